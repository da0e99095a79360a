import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Size of the heap's young generation, in MiB, after work in which many objects survive for a while. */
function youngMiB(prepare: string): number {
  const script = `${prepare}
    const kept = [];
    for (let i = 0; i < 600_000; i++) {
      kept[i % 50_000] = { i, text: 'x' + i };
    }
    const { getHeapSpaceStatistics } = await import('node:v8');
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return Number(stdout);
}

test('the young generation of the heap keeps its initial size', () => {
  const module = new URL('../../../src/cli/commands/heap.ts', import.meta.url).href;
  const small = youngMiB(`const { keepYoungHeapSmall } = await import('${module}'); keepYoungHeapSmall();`);
  expect(small).toBeLessThanOrEqual(4);
  expect(youngMiB('')).toBeGreaterThan(2 * small);
});
