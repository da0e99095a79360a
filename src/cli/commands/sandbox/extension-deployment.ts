import type { KubeConfig } from '@kubernetes/client-node';
import { group } from '../../../extensionconfig/index.ts';
import { connect } from '../../../kubernetes/client/index.ts';
import { type JsonObject, objectAt } from '../../../kubernetes/index.ts';
import { version } from '../../framework/version.ts';
import { bootstrap } from '../certs/certs.ts';

/** Name of the sample extension's namespace, and of everything in it. */
export const extensionName = 'sample-extension';
const labels = { 'app.kubernetes.io/name': extensionName };
export const secretName = `${extensionName}-tls`;
export const deployments = `/apis/apps/v1/namespaces/${extensionName}/deployments`;

/** Registers the sample extension. Its CA is injected from the Secret that `startExtension` creates. */
export async function registerExtension(config: KubeConfig): Promise<void> {
  const cluster = connect(config, new AbortController().signal);
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: extensionName, labels } });
  await cluster.request('POST', `/api/v1/namespaces/${extensionName}/services`, {
    metadata: { name: extensionName, labels },
    spec: { selector: labels, ports: [{ name: 'hooks', port: 443, targetPort: 'hooks' }] },
  });
  await cluster.request('POST', `/apis/${group}/v1beta2/extensionconfigs`, {
    apiVersion: `${group}/v1beta2`,
    kind: 'ExtensionConfig',
    metadata: {
      name: extensionName,
      annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `${extensionName}/${secretName}` },
    },
    spec: {
      clientConfig: { service: { namespace: extensionName, name: extensionName, port: 443 } },
      namespaceSelector: {},
    },
  });
}

export async function deploy(config: KubeConfig, kubeconfigFile: string, signal: AbortSignal): Promise<void> {
  const names = { service: extensionName, secret: secretName, 'ca-secret': `${extensionName}-ca` };
  await bootstrap({ kubeconfig: kubeconfigFile, namespace: extensionName, ...names }, signal);
  const image = `extensionconfig-webhook:${version}`;
  await connect(config, signal).request('POST', deployments, {
    metadata: { name: extensionName, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'extension',
              image,
              args: ['sample-extension', '--cert-dir=/certificates'],
              ports: [{ name: 'hooks', containerPort: 9443 }],
              volumeMounts: [{ name: 'certificates', mountPath: '/certificates', readOnly: true }],
            },
          ],
          volumes: [{ name: 'certificates', secret: { secretName } }],
        },
      },
    },
  });
}

/** What the Deployment requires: a new value requires a restart, undefined means that it must not run. */
export function wantedBy(deployment: JsonObject | undefined): string | undefined {
  const spec = objectAt(deployment, 'spec');
  return Number(spec.replicas ?? 1) > 0 ? JSON.stringify(spec.template ?? null) : undefined;
}

export function statusOf(
  deployment: JsonObject,
  isRunning: boolean,
  problem: string | undefined,
  now: string,
): JsonObject {
  const spec = objectAt(deployment, 'spec');
  const metadata = objectAt(deployment, 'metadata');
  const wanted = Number(spec.replicas ?? 1);
  const ready = isRunning ? 1 : 0;
  const times = { lastUpdateTime: now, lastTransitionTime: now };
  const condition = (type: string, holds: boolean, reason: string, message: string): JsonObject => ({
    type,
    status: holds ? 'True' : 'False',
    reason,
    message,
    ...times,
  });
  const about = problem ?? 'the sandbox runs one pod of this Deployment, however many replicas it asks for';
  const available = ready > 0 || wanted === 0;
  return {
    observedGeneration: metadata.generation ?? 1,
    replicas: ready,
    readyReplicas: ready,
    updatedReplicas: ready,
    availableReplicas: ready,
    conditions: [
      condition('Available', available, `MinimumReplicas${available ? 'Available' : 'Unavailable'}`, about),
      ready === wanted
        ? condition('Progressing', true, 'NewReplicaSetAvailable', about)
        : // `kubectl rollout status` must not wait for pods that never come.
          condition('Progressing', ready === 0, ready === 0 ? 'ReplicaSetUpdated' : 'ProgressDeadlineExceeded', about),
    ],
  };
}
