import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createExtensionServer } from 'cluster-api-extension';
import { handlers } from '../src/handlers/index.ts';

/**
 * Runs `extensionconfig-webhook plan`, with the ExtensionConfig of the handlers as they are now.
 *
 * @returns its output, and its exit code: 1 if Cluster API refuses the patches, or a handler failed.
 */
export async function plan(...args: string[]): Promise<{ code: number; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), '{{name}}-'));
  const server = createExtensionServer({
    handlers,
    certificates: { development: folder, name: '{{name}}' },
    port: 0,
    healthPort: 0,
    logLevel: 'error',
  });
  const running = await server.start();
  try {
    const config = join(folder, 'extension-config.yaml');
    const command = ['node_modules/extensionconfig-webhook/bin/extensionconfig-webhook', 'plan', '-f', config, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, command);
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: `${stdout}${stderr}` };
  } finally {
    await running.stop({ graceMs: 0, timeoutMs: 1000 });
    rmSync(folder, { recursive: true });
  }
}
