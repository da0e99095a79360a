import { AdmissionregistrationV1Api, ApiextensionsV1Api, KubeConfig } from '@kubernetes/client-node';
import { pino } from 'pino';
import { crd } from '../../src/api/index.ts';
import { register, startSandboxWithWebhook, untilServed } from '../../src/commands/sandbox-start.ts';
import { configurationName, startSelfSignedWebhook } from '../../src/commands/sandbox-webhook.ts';
import { eventually } from '../sandbox/client.ts';

/** An API server with ExtensionConfig registered and the webhook in front of it. */
export interface Environment {
  config: KubeConfig;
  kubeconfigFile: string;
  stop(): Promise<void>;
}

/** Where the audit events of the sandbox go: there is one for every write. */
const quiet = pino({ level: 'silent' });

const definition = { name: crd.metadata.name };

async function hasDefinition(config: KubeConfig): Promise<boolean> {
  const { items } = await config.makeApiClient(ApiextensionsV1Api).listCustomResourceDefinition();
  return items.some(({ metadata }) => metadata?.name === definition.name);
}

/** Takes back what `register` did, and with it every ExtensionConfig. */
async function unregister(config: KubeConfig): Promise<void> {
  const registration = config.makeApiClient(AdmissionregistrationV1Api);
  await registration.deleteValidatingWebhookConfiguration({ name: configurationName });
  await registration.deleteMutatingWebhookConfiguration({ name: configurationName });
  await config.makeApiClient(ApiextensionsV1Api).deleteCustomResourceDefinition(definition);
  await eventually(
    () => hasDefinition(config),
    (exists) => !exists,
  );
}

async function startElsewhere(kubeconfigFile: string, signal: AbortSignal): Promise<Environment> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfigFile);
  if (await hasDefinition(config)) {
    throw new Error(
      `E2E_KUBECONFIG: the API server of ${kubeconfigFile} has ExtensionConfigs; the suite would delete them: use one without`,
    );
  }
  // A Service of somebody else's API server does not lead to this process; a URL does.
  const webhook = await startSelfSignedWebhook(quiet);
  await register(config, webhook.reference);
  await untilServed(config, signal);
  return {
    config,
    kubeconfigFile,
    async stop() {
      await unregister(config);
      await webhook.stop();
    },
  };
}

/** The API server of E2E_KUBECONFIG when it is set (it must reach this machine's loopback), else a sandbox. */
export async function startEnvironment(): Promise<Environment> {
  const signal = AbortSignal.timeout(30_000);
  const elsewhere = process.env.E2E_KUBECONFIG ?? '';
  return elsewhere === '' ? startSandboxWithWebhook({ port: 0 }, quiet, signal) : startElsewhere(elsewhere, signal);
}
