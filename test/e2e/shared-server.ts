import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../src/sandbox/index.ts';

/*
 * An API server in a process of its own, for `E2E_KUBECONFIG`: prints the file of its kubeconfig, ends with its input. Like a
 * kube-apiserver it answers 429 for the objects of a new definition at first.
 */
const sandbox = await startSandbox({ initializing: 1_000, log: () => {} });
const folder = mkdtempSync(join(tmpdir(), 'shared-'));
const file = join(folder, 'kubeconfig');
writeFileSync(file, sandbox.kubeconfig, { mode: 0o600 });
process.stdout.write(`${file}\n`);
for await (const _ of process.stdin) {
  // Until it ends.
}
rmSync(folder, { recursive: true });
await sandbox.stop();
