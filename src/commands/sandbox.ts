import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import { readCertificates, usable } from '../certs/index.ts';
import { readLimitedFile } from './limited-file.ts';
import { type AddCommand, type Io, UsageError } from './program.ts';
import { byUrl, type WebhookReference } from './sandbox-webhook.ts';

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
    if (webhookCaFile !== undefined) {
      throw new UsageError('--webhook-ca-file belongs to --webhook-url, which is missing');
    }
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
  const ca = readLimitedFile('--webhook-ca-file', webhookCaFile);
  if (usable(readCertificates(ca)) === undefined) {
    throw new UsageError(`--webhook-ca-file: ${webhookCaFile} holds no certificates in PEM, or broken ones`);
  }
  return byUrl(url.origin, ca);
}

const hint = fileURLToPath(new URL('../../manifests/samples/', import.meta.url));

async function runSandbox(flags: Flags, io: Io): Promise<void> {
  const port = portOf(flags.port);
  const reference = referenceOf(flags);
  // The API server and the Kubernetes client are large; no other command needs them.
  const { startSandboxWithWebhook } = await import('./sandbox-start.ts');
  const sandbox = await startSandboxWithWebhook(port, reference, io.stderr as Writable, io.signal);
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
