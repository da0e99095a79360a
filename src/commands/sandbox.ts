import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { AdmissionregistrationV1Api, ApiextensionsV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { Option } from 'commander';
import { crd, group } from '../api/index.ts';
import { type Sandbox, startSandbox } from '../sandbox/index.ts';
import { webhookPaths } from '../server/index.ts';
import { type AddCommand, FailureError, type Io, UsageError } from './program.ts';
import { type SandboxWebhook, startSandboxWebhook } from './sandbox-webhook.ts';

interface Flags {
  port: string;
  webhookUrl?: string;
  webhookCaFile?: string;
}

const name = 'extensionconfig-webhook';

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new UsageError(`--port: ${JSON.stringify(text)} is no port; give a number from 0 (any free port) to 65535`);
  }
  return port;
}

/** The webhook that the flags name, or undefined when the sandbox is to start its own. */
function webhookOf({ webhookUrl, webhookCaFile }: Flags): SandboxWebhook | undefined {
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
    return { url: url.origin, ca: readFileSync(webhookCaFile, 'utf8'), converts: false, stop: async () => {} };
  } catch (error) {
    throw new UsageError(`--webhook-ca-file: ${(error as Error).message}`);
  }
}

function clientConfig(webhook: SandboxWebhook, path: string) {
  return { url: `${webhook.url}${path}`, caBundle: Buffer.from(webhook.ca).toString('base64') };
}

function configuration(path: 'mutate' | 'validate', webhook: SandboxWebhook) {
  return {
    metadata: { name },
    webhooks: [
      {
        name: `${path}.extensionconfig.runtime.cluster.x-k8s.io`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        matchPolicy: 'Equivalent',
        failurePolicy: 'Fail',
        clientConfig: clientConfig(webhook, webhookPaths[path]),
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

/** Registers ExtensionConfig and, when there is one, the webhook in front of it; returns when it is served. */
export async function register(config: KubeConfig, webhook: SandboxWebhook, signal: AbortSignal): Promise<void> {
  const definition = structuredClone(crd) as unknown as Parameters<
    ApiextensionsV1Api['createCustomResourceDefinition']
  >[0]['body'];
  definition.spec.conversion = !webhook.converts
    ? { strategy: 'None' }
    : {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: clientConfig(webhook, webhookPaths.convert),
        },
      };
  await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({ body: definition });
  const registration = config.makeApiClient(AdmissionregistrationV1Api);
  await registration.createMutatingWebhookConfiguration({ body: configuration('mutate', webhook) });
  await registration.createValidatingWebhookConfiguration({ body: configuration('validate', webhook) });
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

const hint = fileURLToPath(new URL('../../manifests/samples/', import.meta.url));

async function runSandbox(flags: Flags, io: Io): Promise<void> {
  const port = portOf(flags.port);
  const webhook = webhookOf(flags) ?? (await startSandboxWebhook(io.stderr as Writable));
  let directory: string | undefined;
  let sandbox: Sandbox | undefined;
  try {
    sandbox = await startSandbox({ port, log: (event) => io.stderr.write(`${JSON.stringify(event)}\n`) }).catch(
      (error: Error) => {
        throw new FailureError(`the sandbox could not start: ${error.message}; choose another --port`);
      },
    );
    directory = mkdtempSync(join(tmpdir(), 'extensionconfig-sandbox-'));
    const file = join(directory, 'kubeconfig');
    writeFileSync(file, sandbox.kubeconfig, { mode: 0o600, flag: 'wx' });
    const config = new KubeConfig();
    config.loadFromString(sandbox.kubeconfig);
    await register(config, webhook, io.signal);
    io.stdout.write(
      [
        `API server with ExtensionConfig at ${sandbox.url}, its webhook at ${webhook.url}.`,
        'Everything is kept in memory: Ctrl-C ends it and removes all of it. In another terminal, try',
        '',
        `  export KUBECONFIG=${file}`,
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
    if (directory !== undefined) {
      rmSync(directory, { recursive: true, force: true });
    }
    await sandbox?.stop();
    await webhook.stop();
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
