import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { aroundEach, test } from 'vitest';
import { ending, endWith } from '../../support/ends.ts';
import { needs } from '../../support/needs.ts';
import { runProgram } from './io.ts';

// The programs wait rather than compute: they run at the same time.
aroundEach(ending);

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));

/** A kubeconfig whose user has a credential plugin; returns its path. */
function kubeconfigWith(exec: object, server = 'https://127.0.0.1:1'): string {
  const folder = mkdtempSync(join(tmpdir(), 'plugins-'));
  endWith(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'config');
  const text = JSON.stringify({
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'c', user: { exec } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  });
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

test.concurrent('without a terminal, a plugin that sleeps ends a command within seconds, with its name', async ({
  expect,
}) => {
  expect(isatty(2), 'Vitest gives its workers no terminal').toBe(false);
  const startedMs = performance.now();
  const sleeping = kubeconfigWith({ command: 'sleep', args: ['60'] });
  const { stderr, code } = await runProgram(['discover', '--kubeconfig', sleeping]);
  expect(stderr).toMatch(/no credentials: the credential plugin sleep has not ended for 8 s\n$/);
  expect(code).toBe(1);
  expect(performance.now() - startedMs).toBeLessThan(40_000);
});

test.concurrent(
  'in a terminal, a plugin shows what a person has to do, which nothing overwrites',
  needs('script'),
  async ({ expect }) => {
    const sent: string[] = [];
    const server = createServer((request, response) => {
      // A port may have been another test's, whose clients still try it.
      if (request.url?.includes('/secrets/') === true) {
        sent.push(request.headers.authorization ?? '');
      }
      response
        .writeHead(403)
        .end('{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    endWith(() => {
      server.close();
      server.closeAllConnections();
    });
    // Longer than a run without progress.
    const script = `printf 'enter the code ABCD: ' >&2; sleep 1.5; echo '{"status":{"token":"s3cr3t"}}'`;
    const asking = kubeconfigWith(
      { command: 'sh', args: ['-c', script] },
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    const command = `'${process.execPath}' '${main}' certs status --kubeconfig '${asking}'`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] });
    endWith(() => void terminal.kill());
    let shown = '';
    for await (const chunk of terminal.stdout.setEncoding('utf8')) {
      shown += chunk;
    }
    expect(shown).toContain('enter the code ABCD: ');
    expect(shown).not.toContain('ABCD: \u001b');
    expect(new Set(sent)).toEqual(new Set(['Bearer s3cr3t']));
  },
);
