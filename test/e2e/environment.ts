import { execFileSync } from 'node:child_process';
import { Writable } from 'node:stream';
import { KubeConfig } from '@kubernetes/client-node';
import { register, startSandboxWithWebhook, untilServed } from '../../src/commands/sandbox-start.ts';
import { startSelfSignedWebhook } from '../../src/commands/sandbox-webhook.ts';

/** An API server with ExtensionConfig registered and the webhook in front of it. */
export interface Environment {
  config: KubeConfig;
  kubeconfigFile: string;
  stop(): Promise<void>;
}

/** Where the audit events of the sandbox go: there is one for every write. */
const quiet = new Writable({ write: (_chunk, _encoding, done) => done() });

/** The API server of E2E_KUBECONFIG when it is set (it must reach this machine's loopback), else a sandbox. */
export async function startEnvironment(): Promise<Environment> {
  const signal = AbortSignal.timeout(30_000);
  const given = process.env.E2E_KUBECONFIG;
  if (given !== undefined && given !== '') {
    // A Service of somebody else's API server does not lead to this process; a URL does.
    const webhook = await startSelfSignedWebhook(quiet);
    const config = new KubeConfig();
    config.loadFromFile(given);
    await register(config, webhook.reference);
    await untilServed(config, signal);
    return { config, kubeconfigFile: given, stop: webhook.stop };
  }
  return startSandboxWithWebhook(0, undefined, quiet, signal);
}

/** Whether this machine has kubectl; says so when not. */
export function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write('test/e2e: no kubectl on this machine, its tests are skipped\n');
    return false;
  }
}
