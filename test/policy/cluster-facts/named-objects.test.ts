import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { KubernetesClient } from '../../../src/kubernetes/client/index.ts';
import { createNamedObjects } from '../../../src/policy/cluster-facts/named-objects.ts';

test('at most 32 reads are under way, also those that a decision no longer waits for', async () => {
  let underWay = 0;
  const silent = {
    request() {
      underWay++;
      return new Promise(() => {});
    },
  } as unknown as KubernetesClient;
  const problems: unknown[] = [];
  const objects = createNamedObjects(silent, (_kind, problem) => problems.push(problem));
  const readMany = () => Promise.all(Array.from({ length: 40 }, () => objects.read('Secret', 'a', 'b')));
  expect(new Set(await readMany())).toEqual(new Set([undefined]));
  await sleep(1);
  expect(new Set(await readMany())).toEqual(new Set([undefined]));
  expect(underWay).toBe(32);
  expect(problems).toContain('more than 32 secrets are being read at once');
});
