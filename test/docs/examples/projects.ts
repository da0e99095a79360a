import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';

/** Starts the extension of a project. Returns the file with its ExtensionConfig. */
export async function startProject(folder: string): Promise<string> {
  const env = { ...process.env, PORT: '0', HEALTH_PORT: '0' };
  const child = spawn(process.execPath, ['src/main.ts', '--development'], { cwd: folder, env, stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill();
    await once(child, 'exit');
  });
  const config = join(folder, '.development/extension-config.yaml');
  await vi.waitUntil(() => existsSync(config), { timeout: 30_000 });
  return config;
}
