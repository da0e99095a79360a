import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { createSampleExtension } from '../../../extension/sample/index.ts';
import { group } from '../../../extensionconfig/index.ts';
import { connect, watchServingSecret } from '../../../kubernetes/client/index.ts';
import { secretCertificates } from '../../../server/index.ts';
import { version } from '../../framework/version.ts';
import { bootstrap } from '../certs/certs.ts';
import { reachedAtAnnotation } from '../resolve-flag.ts';

/** Name of the sample extension's namespace, and of everything in it. */
export const extensionName = 'sample-extension';
const secretName = `${extensionName}-tls`;
const services = `/api/v1/namespaces/${extensionName}/services`;

/** How long calls in flight may take when the extension is stopped, in milliseconds. */
const stopping = { graceMs: 0, timeoutMs: 1_000 };

/** Registers the sample extension. Its CA is injected from the Secret that `startExtension` creates. */
export async function registerExtension(config: KubeConfig): Promise<void> {
  const cluster = connect(config, new AbortController().signal);
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: extensionName } });
  await cluster.request('POST', services, {
    metadata: { name: extensionName },
    spec: { ports: [{ name: 'hooks', port: 443 }] },
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

/** Starts the sample extension on loopback, with the certificate in its Secret. @throws {FailureError} */
export async function startExtension(
  { config, kubeconfigFile }: { config: KubeConfig; kubeconfigFile: string },
  log: Logger,
  signal: AbortSignal,
): Promise<{ port: number; stop(): Promise<void> }> {
  const names = { service: extensionName, secret: secretName, 'ca-secret': `${extensionName}-ca` };
  await bootstrap({ kubeconfig: kubeconfigFile, namespace: extensionName, ...names }, signal);
  const certificates = secretCertificates(
    `${extensionName}/${secretName}`,
    watchServingSecret(config, extensionName, secretName),
  );
  // Only its Service can be found, so nobody could probe it.
  const options = { host: '127.0.0.1', port: 0, healthPort: 'none', version, processMetrics: false } as const;
  const { port, stop } = await createSampleExtension({ ...options, certificates, log }).start();
  // For calls from this machine: a Service in the sandbox has no address.
  const annotations = { [reachedAtAnnotation]: `127.0.0.1:${port}` };
  await connect(config, signal).request('PATCH', `${services}/${extensionName}`, { metadata: { annotations } });
  return { port, stop: () => stop(stopping) };
}
