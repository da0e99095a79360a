import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const program = `
import { registerHooks } from 'node:module';

const files = [];
registerHooks({
  load(url, context, next) {
    files.push(url);
    return next(url, context);
  },
});
const { clientNode } = await import(${JSON.stringify(new URL('../../src/cluster/client-node.ts', import.meta.url))});
const parts = clientNode();
const ofClient = files.filter((url) => url.includes('/@kubernetes/client-node/')).length;
const whole = await import('@kubernetes/client-node');
const isSame = Object.entries(parts).map(([name, value]) => value === whole[name]);
console.log(JSON.stringify({ ofClient, isSame, models: typeof whole.V1Pod }));
`;

test('of the Kubernetes client only the files that are used are loaded; the whole one has the same classes', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const { ofClient, isSame, models } = JSON.parse(stdout) as { ofClient: number; isSame: boolean[]; models: string };
  expect(ofClient).toBeGreaterThan(5);
  expect(ofClient).toBeLessThan(50);
  expect(isSame).toEqual([true, true]);
  expect(models).toBe('function');
});
