import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { register } from '../../src/commands/sandbox.ts';
import { startSandboxWebhook } from '../../src/commands/sandbox-webhook.ts';
import { startSandbox } from '../../src/sandbox/index.ts';

/** An API server with ExtensionConfig registered and the webhook in front of it. */
export interface Environment {
  config: KubeConfig;
  kubeconfigFile: string;
  stop(): Promise<void>;
}

/** The API server of E2E_KUBECONFIG when it is set (it must reach this machine's loopback), else a sandbox. */
export async function startEnvironment(): Promise<Environment> {
  const webhook = await startSandboxWebhook(process.stderr);
  const config = new KubeConfig();
  const given = process.env.E2E_KUBECONFIG;
  if (given !== undefined && given !== '') {
    config.loadFromFile(given);
    await register(config, webhook, AbortSignal.timeout(30_000));
    return { config, kubeconfigFile: given, stop: webhook.stop };
  }
  const sandbox = await startSandbox();
  const folder = mkdtempSync(join(tmpdir(), 'extensionconfig-e2e-'));
  const kubeconfigFile = join(folder, 'kubeconfig');
  writeFileSync(kubeconfigFile, sandbox.kubeconfig, { mode: 0o600 });
  config.loadFromString(sandbox.kubeconfig);
  await register(config, webhook, AbortSignal.timeout(30_000));
  return {
    config,
    kubeconfigFile,
    async stop() {
      rmSync(folder, { recursive: true, force: true });
      await sandbox.stop();
      await webhook.stop();
    },
  };
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
