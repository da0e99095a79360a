import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AdmissionregistrationV1Api,
  ApiException,
  ApiextensionsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type V1MutatingWebhookConfiguration,
  type V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { parseAllDocuments } from 'yaml';
import { crd, group } from '../../api/index.ts';
import { FailureError, portProblem } from '../../cli/index.ts';
import type { Resolve } from '../../runtime/index.ts';
import { startSandbox } from '../../sandbox/index.ts';
import { webhookPaths } from '../../webhook/index.ts';
import { publish } from './kubeconfig-file.ts';
import {
  byService,
  type LocalWebhook,
  runCerts,
  startWebhookOfSecret,
  type WebhookReference,
  webhookService,
} from './webhook.ts';

/** The log level of each event of the sandbox. */
const levels = { denied: 'info', audit: 'info', 'failed-open': 'warn', bug: 'error' } as const;

/**
 * The webhook configurations of an installation; those of the sandbox are the same, so that manifests can be applied to
 * it.
 */
const configurationsFile = new URL('../../../manifests/base/webhooks.yaml', import.meta.url);

/** The configurations of the manifest, with a reference to a webhook server. */
function configurationsFor(webhook: WebhookReference, clusterFacts: boolean) {
  return parseAllDocuments(readFileSync(configurationsFile, 'utf8')).map((document) => {
    const configuration = document.toJS() as V1MutatingWebhookConfiguration & V1ValidatingWebhookConfiguration;
    for (const entry of configuration.webhooks ?? []) {
      entry.clientConfig = webhook.clientConfig(entry.clientConfig.service?.path ?? '/');
      if (clusterFacts && configuration.kind === 'ValidatingWebhookConfiguration') {
        // As manifests/components/cluster-facts does it.
        entry.rules?.[0]?.operations?.push('DELETE');
      }
    }
    return configuration;
  });
}

/** Longest wait before a retry, in seconds, whatever the API server asks for. */
const maxRetryAfter = 10;

/**
 * Retries a request as often as the API server asks for it (429, or another failure with Retry-After): right after a
 * definition is created, a kube-apiserver answers "storage is (re)initializing".
 *
 * @throws the failure of the request, or the reason of `signal` when that was aborted.
 */
export async function insist<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ApiException)) {
        throw error;
      }
      const asked = Number(error.headers['retry-after'] ?? Number.NaN);
      if (error.code !== 429 && Number.isNaN(asked)) {
        throw error;
      }
      const seconds = Number.isNaN(asked) ? 1 : Math.min(Math.max(asked, 0.1), maxRetryAfter);
      await sleep(seconds * 1000, undefined, { signal }).catch(() => {});
    }
  }
}

/** Registers ExtensionConfig and the webhook in front of it. */
export async function register(
  config: KubeConfig,
  webhook: WebhookReference,
  signal: AbortSignal,
  clusterFacts = false,
): Promise<void> {
  const definition = structuredClone(crd) as unknown as Parameters<
    ApiextensionsV1Api['createCustomResourceDefinition']
  >[0]['body'];
  definition.spec.conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: webhook.clientConfig(webhookPaths.convert) },
  };
  const extensions = config.makeApiClient(ApiextensionsV1Api);
  await insist(() => extensions.createCustomResourceDefinition({ body: definition }), signal);
  const registration = config.makeApiClient(AdmissionregistrationV1Api);
  for (const body of configurationsFor(webhook, clusterFacts)) {
    await insist<unknown>(
      () =>
        body.kind === 'MutatingWebhookConfiguration'
          ? registration.createMutatingWebhookConfiguration({ body })
          : registration.createValidatingWebhookConfiguration({ body }),
      signal,
    );
  }
}

/**
 * Returns when ExtensionConfigs are served: their definition is established, and the API server has begun to answer for
 * them.
 *
 * @throws the error of an API server that neither serves them nor asks for a retry; the reason of `signal`.
 */
export async function untilServed(config: KubeConfig, signal: AbortSignal): Promise<void> {
  const extensions = config.makeApiClient(ApiextensionsV1Api);
  const { name } = crd.metadata;
  for (;;) {
    const { status } = await insist(() => extensions.readCustomResourceDefinition({ name }), signal);
    const established = status?.conditions?.find(({ type }) => type === 'Established');
    if (established?.status === 'True') {
      break;
    }
    const accepted = status?.conditions?.find(({ type }) => type === 'NamesAccepted');
    if (accepted?.status === 'False') {
      throw new FailureError(`${name} is not served: ${accepted.message ?? accepted.reason ?? 'its names are taken'}`);
    }
    await sleep(10, undefined, { signal }).catch(() => {});
  }
  const objects = config.makeApiClient(CustomObjectsApi);
  for (const { name: version } of crd.spec.versions) {
    // Established a moment before it is served; that takes no more than some seconds anywhere.
    for (;;) {
      try {
        await insist(
          () => objects.listClusterCustomObject({ group, version, plural: 'extensionconfigs', limit: 1 }),
          signal,
        );
        break;
      } catch (error) {
        if ((error as { code?: number }).code !== 404) {
          throw error;
        }
        await sleep(10, undefined, { signal }).catch(() => {});
      }
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

/** How to start a sandbox with a webhook. */
export interface SandboxSettings {
  /** On loopback; 0 takes any free one. */
  port: number;
  /** The webhook to use; without it the sandbox starts one of its own. */
  webhook?: WebhookReference | undefined;
  /** Where other Services are reached; without it only those of type ExternalName are. */
  resolve?: Resolve | undefined;
  /** Whether the webhook gets facts about the cluster, and is asked about deletions. */
  clusterFacts?: boolean | undefined;
  /** Where to write the kubeconfig when all is ready, besides the folder that goes with the sandbox. */
  kubeconfigFile?: string | undefined;
  /** The text that file has now and that may be replaced. */
  staleKubeconfig?: string | undefined;
  /** Called when ExtensionConfigs are served, before everything is ready. */
  prepare?(config: KubeConfig): Promise<void>;
}

/**
 * Starts an API server and the webhook in front of it, as in a cluster: configurations without a caBundle, `certs
 * bootstrap`, a webhook that follows its Secret.
 *
 * @throws {FailureError} when the port is taken, or certificates cannot be made; the reason of `signal` when that was
 *   aborted.
 */
export async function startSandboxWithWebhook(
  settings: SandboxSettings,
  log: Logger,
  signal: AbortSignal,
): Promise<RunningSandbox> {
  let local: LocalWebhook | undefined;
  const sandbox = await startSandbox({
    port: settings.port,
    log: ({ event, message, ...about }) => log[levels[event]]({ ...about, message }, event),
    resolveService: ({ namespace, name, port }) => {
      const isOurs = namespace === webhookService.namespace && name === webhookService.name;
      const endpoint = local === undefined ? settings.webhook?.endpoint : { host: '127.0.0.1', port: local.port };
      return isOurs ? endpoint : settings.resolve?.(`${name}.${namespace}.svc:${port}`);
    },
  }).catch((error: NodeJS.ErrnoException) => {
    throw new FailureError(
      portProblem(error.code, settings.port, '--port') ?? `the sandbox could not start: ${error.message}`,
    );
  });
  const directory = mkdtempSync(join(tmpdir(), 'extensionconfig-sandbox-'));
  const files = [directory];
  function clear(): void {
    for (const file of files) {
      rmSync(file, { recursive: true, force: true });
    }
  }
  // However the program ends, no token is left behind.
  process.once('exit', clear);
  async function stop(): Promise<void> {
    clear();
    process.off('exit', clear);
    await local?.stop();
    await sandbox.stop();
  }
  try {
    const ownFile = join(directory, 'kubeconfig');
    writeFileSync(ownFile, sandbox.kubeconfig, { mode: 0o600, flag: 'wx' });
    const config = new KubeConfig();
    config.loadFromString(sandbox.kubeconfig);
    const webhook = settings.webhook ?? byService;
    await register(config, webhook, signal, settings.clusterFacts);
    if (settings.webhook === undefined) {
      const namespace = { metadata: { name: webhookService.namespace } };
      await config.makeApiClient(CoreV1Api).createNamespace({ body: namespace });
      const { code, output } = await runCerts(['bootstrap'], ownFile, crd.metadata.name, signal);
      if (code !== 0) {
        throw new FailureError(`the sandbox could not make its certificates: ${output.trim()}`);
      }
      local = await startWebhookOfSecret(config, log, { clusterFacts: settings.clusterFacts });
    }
    await untilServed(config, signal);
    await settings.prepare?.(config);
    signal.throwIfAborted();
    if (settings.kubeconfigFile !== undefined) {
      publish(settings.kubeconfigFile, sandbox.kubeconfig, settings.staleKubeconfig);
      files.push(settings.kubeconfigFile);
    }
    return { url: sandbox.url, config, kubeconfigFile: settings.kubeconfigFile ?? ownFile, webhook, stop };
  } catch (error) {
    await stop();
    throw signal.aborted ? signal.reason : error;
  }
}
