import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../src/sandbox/index.ts';

/**
 * An API server in a process of its own, for `E2E_KUBECONFIG`: prints the path of its kubeconfig, exits when its input
 * ends.
 */
const sandbox = await startSandbox({ log: () => {} });
const folder = mkdtempSync(join(tmpdir(), 'shared-'));
const file = join(folder, 'kubeconfig');
writeFileSync(file, sandbox.kubeconfig, { mode: 0o600 });
process.stdout.write(`${file}\n`);
for await (const _ of process.stdin) {
  // Until it exits.
}
rmSync(folder, { recursive: true });
await sandbox.stop();
