import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdmissionregistrationV1Api, ApiextensionsV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { Option } from 'commander';
import { crd, group } from '../api/index.ts';
import { startSandbox } from '../sandbox/index.ts';
import { type AddCommand, FailureError, type Io, UsageError } from './program.ts';

/** The webhook server that the sandbox's configurations lead to. */
interface Webhook {
  host: string;
  port: number;
  /** PEM that verifies it for extensionconfig-webhook.extensionconfig-webhook-system.svc. */
  ca: string;
}

interface Flags {
  port: string;
  webhookUrl?: string;
  webhookCaFile?: string;
}

const service = { namespace: 'extensionconfig-webhook-system', name: 'extensionconfig-webhook' };
const pathSuffix = 'runtime-cluster-x-k8s-io-v1beta2-extensionconfig';

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new UsageError(`--port: ${JSON.stringify(text)} is no port; give a number from 0 (any free port) to 65535`);
  }
  return port;
}

function webhookOf({ webhookUrl, webhookCaFile }: Flags): Webhook | undefined {
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
    return { host: url.hostname, port: Number(url.port || 443), ca: readFileSync(webhookCaFile, 'utf8') };
  } catch (error) {
    throw new UsageError(`--webhook-ca-file: ${(error as Error).message}`);
  }
}

function configuration(path: 'mutate' | 'validate', ca: string) {
  return {
    metadata: { name: service.name },
    webhooks: [
      {
        name: `${path}.extensionconfig.runtime.cluster.x-k8s.io`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        matchPolicy: 'Equivalent',
        failurePolicy: 'Fail',
        clientConfig: {
          service: { ...service, path: `/${path}-${pathSuffix}`, port: 443 },
          caBundle: Buffer.from(ca).toString('base64'),
        },
        rules: [
          {
            apiGroups: [group],
            apiVersions: ['v1beta2'],
            resources: ['extensionconfigs'],
            operations: path === 'mutate' ? ['CREATE', 'UPDATE'] : ['CREATE', 'UPDATE', 'DELETE'],
          },
        ],
      },
    ],
  };
}

/** Registers ExtensionConfig and, when there is one, the webhook in front of it; returns when it is served. */
async function register(config: KubeConfig, webhook: Webhook | undefined, signal: AbortSignal): Promise<void> {
  const definition = structuredClone(crd) as unknown as Parameters<
    ApiextensionsV1Api['createCustomResourceDefinition']
  >[0]['body'];
  definition.spec.conversion =
    webhook === undefined
      ? { strategy: 'None' }
      : {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: {
              service: { ...service, path: '/convert', port: 443 },
              caBundle: Buffer.from(webhook.ca).toString('base64'),
            },
          },
        };
  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({ body: definition });
  if (webhook !== undefined) {
    const registration = config.makeApiClient(AdmissionregistrationV1Api);
    await registration.createMutatingWebhookConfiguration({ body: configuration('mutate', webhook.ca) });
    await registration.createValidatingWebhookConfiguration({ body: configuration('validate', webhook.ca) });
  }
  const objects = config.makeApiClient(CustomObjectsApi);
  for (;;) {
    try {
      await objects.listClusterCustomObject({ group, version: 'v1beta2', plural: 'extensionconfigs' });
      return;
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      if ((error as { code?: number }).code !== 404) {
        throw error;
      }
    }
  }
}

async function runSandbox(flags: Flags, io: Io): Promise<void> {
  const webhook = webhookOf(flags);
  const sandbox = await startSandbox({
    port: portOf(flags.port),
    resolveService: ({ namespace, name }) =>
      namespace === service.namespace && name === service.name ? webhook : undefined,
    log: (event) => io.stderr.write(`${JSON.stringify(event)}\n`),
  }).catch((error: Error) => {
    throw new FailureError(`the sandbox could not start: ${error.message}`);
  });
  const directory = mkdtempSync(join(tmpdir(), 'extensionconfig-sandbox-'));
  try {
    const file = join(directory, 'kubeconfig');
    writeFileSync(file, sandbox.kubeconfig, { mode: 0o600, flag: 'wx' });
    const config = new KubeConfig();
    config.loadFromString(sandbox.kubeconfig);
    await register(config, webhook, io.signal);
    io.stdout.write(
      [
        `API server with ExtensionConfig at ${sandbox.url}, everything in memory; Ctrl-C ends it and removes all of it.`,
        webhook === undefined
          ? 'No webhook: objects get neither defaults nor rules (--webhook-url gives it one).'
          : `Webhook at ${webhook.host}:${webhook.port}.`,
        '',
        `  export KUBECONFIG=${file}`,
        '  kubectl api-resources --api-group=runtime.cluster.x-k8s.io',
        '  kubectl explain extensionconfig.spec',
        '  kubectl get extensionconfigs --watch',
        '',
      ].join('\n'),
    );
    if (!io.signal.aborted) {
      await new Promise<void>((resolve) => io.signal.addEventListener('abort', () => resolve(), { once: true }));
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
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
