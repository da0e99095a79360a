import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  AdmissionregistrationV1Api,
  ApiextensionsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
} from '@kubernetes/client-node';
import { Option } from 'commander';
import { crd, group } from '../api/index.ts';
import { startSandbox } from '../sandbox/index.ts';
import { webhookPaths } from '../server/index.ts';
import { type AddCommand, FailureError, type Io, UsageError } from './program.ts';
import {
  byService,
  byUrl,
  configurationName,
  type LocalWebhook,
  runCerts,
  startWebhookOfSecret,
  type WebhookReference,
  webhookService,
} from './sandbox-webhook.ts';

interface Flags {
  port: string;
  webhookUrl?: string;
  webhookCaFile?: string;
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new UsageError(`--port: ${JSON.stringify(text)} is no port; give a number from 0 (any free port) to 65535`);
  }
  return port;
}

/** The webhook that the flags name, or undefined when the sandbox is to start its own. */
function referenceOf({ webhookUrl, webhookCaFile }: Flags): WebhookReference | undefined {
  if (webhookUrl === undefined) {
    return undefined;
  }
  let url: URL;
  try {
    url = new URL(webhookUrl);
  } catch {
    throw new UsageError(`--webhook-url: ${JSON.stringify(webhookUrl)} is no URL; write https://127.0.0.1:9443`);
  }
  if (url.protocol !== 'https:') {
    throw new UsageError(`--webhook-url: ${JSON.stringify(webhookUrl)} must begin with https://`);
  }
  if (webhookCaFile === undefined) {
    throw new UsageError('--webhook-url needs --webhook-ca-file, the PEM certificates that verify the webhook');
  }
  try {
    return byUrl(url.origin, readFileSync(webhookCaFile, 'utf8'));
  } catch (error) {
    throw new UsageError(`--webhook-ca-file: ${(error as Error).message}`);
  }
}

function configuration(path: 'mutate' | 'validate', webhook: WebhookReference) {
  return {
    metadata: { name: configurationName },
    webhooks: [
      {
        name: `${path}.extensionconfig.runtime.cluster.x-k8s.io`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        matchPolicy: 'Equivalent',
        failurePolicy: 'Fail',
        clientConfig: webhook.clientConfig(webhookPaths[path]),
        rules: [
          {
            apiGroups: [group],
            apiVersions: ['v1beta2'],
            resources: ['extensionconfigs', 'extensionconfigs/status'],
            operations: path === 'mutate' ? ['CREATE', 'UPDATE'] : ['CREATE', 'UPDATE', 'DELETE'],
          },
        ],
      },
    ],
  };
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
  await registration.createMutatingWebhookConfiguration({ body: configuration('mutate', webhook) });
  await registration.createValidatingWebhookConfiguration({ body: configuration('validate', webhook) });
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
 * @throws {FailureError} when the port is taken, or certificates cannot be made.
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
  async function stop(): Promise<void> {
    rmSync(directory, { recursive: true, force: true });
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
    return { url: sandbox.url, config, kubeconfigFile, webhook, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const hint = fileURLToPath(new URL('../../manifests/samples/', import.meta.url));

async function runSandbox(flags: Flags, io: Io): Promise<void> {
  const port = portOf(flags.port);
  const sandbox = await startSandboxWithWebhook(port, referenceOf(flags), io.stderr as Writable, io.signal);
  try {
    io.stdout.write(
      [
        `API server with ExtensionConfig at ${sandbox.url}, its webhook: ${sandbox.webhook.description}.`,
        'Everything is kept in memory: Ctrl-C ends it and removes all of it. In another terminal, try',
        '',
        `  export KUBECONFIG=${sandbox.kubeconfigFile}`,
        `  kubectl apply -f ${hint}good-url.yaml`,
        `  kubectl apply -f ${hint}bad-url.yaml`,
        '  kubectl get extensionconfigs -o yaml',
        '',
      ].join('\n'),
    );
    if (!io.signal.aborted) {
      await once(io.signal, 'abort');
    }
  } finally {
    await sandbox.stop();
  }
}

/** `sandbox`: an API server on loopback to try ExtensionConfigs on, with real kubectl and without a cluster. */
export const addSandbox: AddCommand = (program, io) => {
  const option = (flags: string, description: string, name: string) =>
    new Option(flags, description).env(`EXTENSIONCONFIG_WEBHOOK_${name}`);
  program
    .command('sandbox')
    .description('start an API server on loopback with ExtensionConfig registered, to try it with kubectl')
    .addOption(option('--port <port>', 'port on 127.0.0.1; 0 takes any free one', 'PORT').default('0'))
    .addOption(option('--webhook-url <url>', 'https URL of a running webhook server', 'WEBHOOK_URL'))
    .addOption(option('--webhook-ca-file <file>', 'PEM certificates that verify it', 'WEBHOOK_CA_FILE'))
    .action((flags: Flags) => runSandbox(flags, io));
};
