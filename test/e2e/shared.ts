import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/**
 * The end-to-end suite twice in a row against one API server, as `E2E_KUBECONFIG=… npx vitest run test/e2e` runs it:
 * anything that a file or a run leaves behind makes the next one fail. Exits with the code of the first run that fails.
 */
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = spawn(process.execPath, [here('shared-server.ts')], { stdio: ['pipe', 'pipe', 'inherit'] });
const ended = once(server, 'exit');
const [kubeconfig] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
const vitest = here('../../node_modules/vitest/vitest.mjs');
const env = { ...process.env, E2E_KUBECONFIG: kubeconfig };
for (const round of ['first', 'second']) {
  process.stdout.write(`${round} run against ${kubeconfig}\n`);
  const run = spawn(process.execPath, [vitest, 'run', 'test/e2e', ...process.argv.slice(2)], { env, stdio: 'inherit' });
  const [code] = (await once(run, 'exit')) as [number | null];
  if (code !== 0) {
    process.exitCode = code ?? 1;
    break;
  }
}
server.stdin.end();
await ended;
