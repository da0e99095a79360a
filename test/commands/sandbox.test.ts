import { existsSync, statSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { run } from '../../src/commands/index.ts';
import { eventually } from '../sandbox/client.ts';

function start(args: string[]) {
  const stop = new AbortController();
  const output = { out: '', err: '' };
  const stdout = new PassThrough().on('data', (chunk) => {
    output.out += chunk;
  });
  const stderr = new PassThrough().on('data', (chunk) => {
    output.err += chunk;
  });
  const ended = run(['sandbox', ...args], { stdin: new PassThrough(), stdout, stderr, env: {}, signal: stop.signal });
  return { stop, output, ended };
}

test('prints a kubeconfig that only its owner may read, and leaves nothing behind', async () => {
  const { stop, output, ended } = start([]);
  await eventually(
    async () => output.out,
    (text) => text.includes('kubectl get'),
  );
  const file = /KUBECONFIG=(\S+)/.exec(output.out)?.[1] as string;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  stop.abort();
  expect(await ended).toBe(0);
  expect(existsSync(file)).toBe(false);
});

test.each([
  [['--port', 'x'], '--port'],
  [['--webhook-url', 'http://localhost:1'], 'must begin with https://'],
  [['--webhook-url', 'nothing'], 'is no URL'],
  [['--webhook-url', 'https://localhost:1'], 'needs --webhook-ca-file'],
])('%j is a usage error', async (args, message) => {
  const { output, ended } = start(args);
  expect(await ended).toBe(2);
  expect(output.err).toContain(message);
});
