import { apiVersionOf, hubVersion, kind } from '../../extensionconfig/index.ts';
import { readObject, StatusError } from '../../kubernetes/client/index.ts';
import { fieldAt, itemsAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { failed, type Installation, ok, skipped, type Tick } from './tick.ts';

function remedyFor(message: string): string {
  if (/certificate is valid for|certificate is not valid for any names/.test(message)) {
    return 'another server answers: kubectl get endpointslices in the namespace of the webhook; otherwise run the rotation Job';
  }
  if (/certificate has expired/.test(message)) {
    return 'run the rotation Job (docs/operations.md#rotate-now), and correct clocks that are wrong';
  }
  if (/x509|certificate/.test(message)) {
    return 'the caBundle does not fit: run certs inject, or the rotation Job (docs/operations.md#rotate-now)';
  }
  return /no endpoints|not found|refused/.test(message)
    ? 'no pod is ready: kubectl get pods,events in the namespace of the webhook'
    : 'look at the NetworkPolicy and at the firewall between API servers and nodes (port 9443)';
}

/** Whether the API server reaches the webhooks: it calls them for a write that it does not store. */
export async function reachable({ cluster }: Installation): Promise<Tick[]> {
  const check = 'reachable';
  const object = {
    apiVersion: apiVersionOf(hubVersion),
    kind,
    metadata: { name: 'doctor-dry-run' },
    spec: { clientConfig: { url: 'https://doctor.example.com' } },
  };
  try {
    await cluster.request('POST', `/apis/${apiVersionOf(hubVersion)}/extensionconfigs?dryRun=All`, object);
    return [ok(check, 'the API server called the webhooks for a dry run')];
  } catch (error) {
    if (!(error instanceof StatusError)) {
      throw error;
    }
    const { message } = error;
    if (/failed calling webhook/.test(message)) {
      return [failed(check, `the API server cannot call the webhook: ${message}`, remedyFor(message))];
    }
    if (/denied the request/.test(message)) {
      return [ok(check, 'the API server called the webhooks for a dry run, and one denied it')];
    }
    return error.code === 404
      ? [failed(check, 'the API server has no ExtensionConfigs', 'install Cluster API, or the overlay with-crd')]
      : [skipped(check, `the dry run failed before the webhooks: ${message}`)];
  }
}

function deployment({ cluster }: Installation, namespace: string, name: string) {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
  return readObject(cluster, path, 'deployments.apps', `${namespace}/${name}`);
}

/** Whether each pod that the Deployment wants is ready, and all of them are of one version. */
export async function replicas(installation: Installation): Promise<Tick[]> {
  const { cluster, namespace, service } = installation;
  const check = 'replicas';
  const selector = encodeURIComponent(
    'app.kubernetes.io/name=extensionconfig-webhook,app.kubernetes.io/component=serving',
  );
  const { items } = await cluster.request('GET', `/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`);
  const pods = objectsAt(items);
  const isReady = (pod: (typeof pods)[number]) =>
    itemsAt(pod, 'status', 'conditions').some(
      (one) => textAt(one, 'type') === 'Ready' && textAt(one, 'status') === 'True',
    );
  const unready = pods.filter((pod) => !isReady(pod)).map((pod) => textAt(pod, 'metadata', 'name'));
  const images = new Set(pods.map((pod) => textAt(pod, 'spec', 'containers', 0, 'image')));
  const look = `kubectl -n ${namespace} get pods,events`;
  if (pods.length === 0) {
    return installation.isSandbox
      ? [skipped(check, 'no pod runs in the sandbox')]
      : [failed(check, `there is no pod of the webhook in ${namespace}`, look)];
  }
  const wanted = Number(fieldAt(await deployment(installation, namespace, service), 'spec', 'replicas') ?? 1);
  const ready = pods.length - unready.length;
  return [
    unready.length > 0
      ? failed(check, `${unready.join(', ')}: not ready`, `${look}; /readyz of the pod says why`)
      : ready < wanted
        ? failed(check, `${ready} of ${wanted} pods are there`, look)
        : ok(check, `${ready} ready`),
    images.size > 1
      ? failed(check, `pods run ${[...images].join(' and ')}`, `kubectl -n ${namespace} rollout status deployment`)
      : ok(check, `all run ${[...images].join()}`),
  ];
}

async function gateIn(installation: Installation, namespace: string, name: string): Promise<boolean | undefined> {
  const found = await deployment(installation, namespace, name);
  const args = itemsAt(found, 'spec', 'template', 'spec', 'containers').flatMap((one) => itemsAt(one, 'args'));
  return found && /\bRuntimeSDK=(true|t|1)\b/i.test(args.join(' '));
}

/** Whether the feature gate RuntimeSDK is on in both Cluster API and the webhook, or in none. */
export async function featureGate(installation: Installation): Promise<Tick[]> {
  const check = 'feature gate';
  const { namespace, service, clusterApiNamespace } = installation;
  const ours = await gateIn(installation, namespace, service);
  const theirs = await gateIn(installation, clusterApiNamespace, 'capi-controller-manager');
  if (ours === undefined || theirs === undefined) {
    const where = ours === undefined ? `${namespace}/${service}` : `${clusterApiNamespace}/capi-controller-manager`;
    return [skipped(check, `there is no Deployment ${where}`)];
  }
  if (ours === theirs) {
    return [ok(check, `RuntimeSDK is ${ours ? 'on' : 'off'} in Cluster API and in the webhook`)];
  }
  return [
    ours
      ? failed(
          check,
          'RuntimeSDK is off in Cluster API and on in the webhook: ExtensionConfigs do nothing',
          'start capi-controller-manager with --feature-gates=RuntimeSDK=true (EXP_RUNTIME_SDK=true for clusterctl)',
        )
      : failed(
          check,
          'RuntimeSDK is on in Cluster API and off in the webhook, which denies every write',
          'start the webhook with --feature-gates=RuntimeSDK=true',
        ),
  ];
}
