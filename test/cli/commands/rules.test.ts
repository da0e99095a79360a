import { expect, test } from 'vitest';
import { rules } from '../../../src/policy/index.ts';
import { runProgram } from './io.ts';

test('the list contains every rule, as a table and as JSON', async () => {
  const { code, stdout } = await runProgram(['rules']);
  expect(code).toBe(0);
  const ids = stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(' ')[0]);
  expect(ids).toEqual(rules.map(({ id }) => id));
  const json = JSON.parse((await runProgram(['rules', '--output', 'json'])).stdout);
  expect(json.map(({ id }: { id: string }) => id)).toEqual(ids);
});

test.each(rules.map(({ id }) => id))('%s is explained, with its findings', async (id) => {
  const { findings } = JSON.parse((await runProgram(['rules', id, '--output', 'json'])).stdout);
  expect(findings.length).toBeGreaterThan(0);
  const { stdout } = await runProgram(['rules', id]);
  expect(stdout).toContain(`  ${findings[0]}\n`);
});

test.each([
  ['url-quary', /did you mean url-query/],
  ['url', /did you mean url-/],
  ['zzzzzzzzzzzzzzzzzzzzzz', /lists them/],
])('%s is not a rule', async (id, message) => {
  const { code, stderr } = await runProgram(['rules', id]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
