import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createExtensionServer } from 'cluster-api-extension';
import { handlers } from '../src/handlers/index.ts';

/** Runs `extensionconfig-webhook plan`, with the flag and the ExtensionConfig of the handlers as they are now. */
export async function plan(flag: '-f' | '--from', ...args: string[]): Promise<string> {
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
    const command = ['node_modules/extensionconfig-webhook/bin/extensionconfig-webhook', 'plan', flag, config, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, command);
    return stdout;
  } finally {
    await running.stop({ graceMs: 0, timeoutMs: 1000 });
    rmSync(folder, { recursive: true });
  }
}
