import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const fuzz = (...args: string[]) =>
  spawnSync(process.execPath, [fileURLToPath(new URL('../../tools/fuzz/run.ts', import.meta.url)), ...args], {
    encoding: 'utf8',
  });

test('npm run fuzz feeds every decoder, and the ones of today find nothing', () => {
  const { stdout, stderr, status } = fuzz('--minutes', '0.03', '--seed', '1');
  expect([stderr, status]).toEqual(['', 0]);
  const inputs = [...stdout.matchAll(/^(\S+) +(\d+) inputs$/gm)].map(([, name, count]) => [name, Number(count) > 0]);
  const names = ['mutate', 'validate', 'convert', 'json', 'hook-request', 'hook-answer', 'discovery', 'certificates'];
  names.push('kubeconfig', 'manifests', 'yaml', 'json-patch', 'merge-patch', 'json-diff', 'openapi-v2', 'openapi-v3');
  expect(inputs).toEqual([...names, 'protobuf'].map((name) => [name, true]));
});

test('an unknown decoder is an error', () => {
  const { stderr, status } = fuzz('--only', 'nothing');
  expect(status).toBe(1);
  expect(stderr).toContain('--only: there is no decoder nothing');
});
