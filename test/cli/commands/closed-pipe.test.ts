import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));

test('a program whose reader closes the output (`lint … | head`) ends without a message, and not as if nothing was found', async () => {
  const child = spawn(process.execPath, [main, 'lint', '-'], { stdio: 'pipe' });
  child.stdout.destroy();
  child.stdin.end('apiVersion: runtime.cluster.x-k8s.io/v1beta2\nkind: ExtensionConfig\nmetadata: {name: x}\n');
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [code, signal] = await once(child, 'close');
  expect([code, signal, Buffer.concat(errors).toString()]).toEqual([141, null, '']);
});
