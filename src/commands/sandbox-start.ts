import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AdmissionregistrationV1Api,
  ApiextensionsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type V1MutatingWebhookConfiguration,
  type V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { crd, group } from '../api/index.ts';
import { startSandbox } from '../sandbox/index.ts';
import { webhookPaths } from '../server/index.ts';
import { FailureError } from './program.ts';
import {
  byService,
  type LocalWebhook,
  runCerts,
  startWebhookOfSecret,
  type WebhookReference,
  webhookService,
} from './sandbox-webhook.ts';

/** The webhook configurations of an installation; those of the sandbox are the same, so that manifests can be applied to it. */
const configurationsFile = new URL('../../manifests/base/webhooks.yaml', import.meta.url);

/** The configurations of the manifest with their webhooks reached by a reference. */
function configurationsFor(webhook: WebhookReference) {
  return parseAllDocuments(readFileSync(configurationsFile, 'utf8')).map((document) => {
    const configuration = document.toJS() as V1MutatingWebhookConfiguration & V1ValidatingWebhookConfiguration;
    for (const entry of configuration.webhooks ?? []) {
      entry.clientConfig = webhook.clientConfig(entry.clientConfig.service?.path ?? '/');
    }
    return configuration;
  });
}

/** Registers ExtensionConfig and the webhook in front of it. */
export async function register(config: KubeConfig, webhook: WebhookReference): Promise<void> {
  const definition = structuredClone(crd) as unknown as Parameters<
    ApiextensionsV1Api['createCustomResourceDefinition']
  >[0]['body'];
  definition.spec.conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: webhook.clientConfig(webhookPaths.convert) },
  };
  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({ body: definition });
  const registration = config.makeApiClient(AdmissionregistrationV1Api);
  for (const body of configurationsFor(webhook)) {
    await (body.kind === 'MutatingWebhookConfiguration'
      ? registration.createMutatingWebhookConfiguration({ body })
      : registration.createValidatingWebhookConfiguration({ body }));
  }
}

/** Returns when ExtensionConfigs are served. */
export async function untilServed(config: KubeConfig, signal: AbortSignal): Promise<void> {
  const objects = config.makeApiClient(CustomObjectsApi);
  while (!signal.aborted) {
    try {
      await objects.listClusterCustomObject({ group, version: 'v1beta2', plural: 'extensionconfigs' });
      return;
    } catch (error) {
      if ((error as { code?: number }).code !== 404) {
        throw error;
      }
      await sleep(10);
    }
  }
}

/** An API server with ExtensionConfig registered and a webhook in front of it. */
export interface RunningSandbox {
  url: string;
  config: KubeConfig;
  /** Readable by its owner only. */
  kubeconfigFile: string;
  webhook: WebhookReference;
  stop(): Promise<void>;
}

/**
 * Starts an API server and the webhook in front of it, the way a cluster gets them: configurations without a caBundle,
 * `certs bootstrap`, a webhook that follows its Secret. With `given` that webhook is used instead.
 *
 * @throws {FailureError} when the port is taken, or certificates cannot be made; the reason of `signal` when that was aborted.
 */
export async function startSandboxWithWebhook(
  port: number,
  given: WebhookReference | undefined,
  log: Writable,
  signal: AbortSignal,
): Promise<RunningSandbox> {
  let local: LocalWebhook | undefined;
  const sandbox = await startSandbox({
    port,
    log: (event) => log.write(`${JSON.stringify(event)}\n`),
    resolveService: ({ namespace, name }) =>
      local !== undefined && namespace === webhookService.namespace && name === webhookService.name
        ? { host: '127.0.0.1', port: local.port }
        : undefined,
  }).catch((error: Error) => {
    throw new FailureError(`the sandbox could not start: ${error.message}; choose another --port`);
  });
  const directory = mkdtempSync(join(tmpdir(), 'extensionconfig-sandbox-'));
  const clear = () => rmSync(directory, { recursive: true, force: true });
  // However the program ends, no token stays behind.
  process.once('exit', clear);
  async function stop(): Promise<void> {
    clear();
    process.off('exit', clear);
    await local?.stop();
    await sandbox.stop();
  }
  try {
    const kubeconfigFile = join(directory, 'kubeconfig');
    writeFileSync(kubeconfigFile, sandbox.kubeconfig, { mode: 0o600, flag: 'wx' });
    const config = new KubeConfig();
    config.loadFromString(sandbox.kubeconfig);
    const webhook = given ?? byService;
    await register(config, webhook);
    if (given === undefined) {
      const namespace = { metadata: { name: webhookService.namespace } };
      await config.makeApiClient(CoreV1Api).createNamespace({ body: namespace });
      const { code, output } = await runCerts(['bootstrap'], kubeconfigFile, crd.metadata.name, signal);
      if (code !== 0) {
        throw new FailureError(`the sandbox could not make its certificates: ${output.trim()}`);
      }
      local = await startWebhookOfSecret(config, log);
    }
    await untilServed(config, signal);
    signal.throwIfAborted();
    return { url: sandbox.url, config, kubeconfigFile, webhook, stop };
  } catch (error) {
    await stop();
    throw signal.aborted ? signal.reason : error;
  }
}
