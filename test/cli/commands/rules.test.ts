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

test('one is described', async () => {
  const { stdout } = await runProgram(['rules', 'url-host']);
  expect(stdout).toMatch(/^url-host \(deny, profile strict\)\n\nurl has a host\.\n\nBad:\n\n {2}apiVersion: /);
  expect(JSON.parse((await runProgram(['rules', 'url-host', '--output', 'json'])).stdout)).toMatchObject({
    id: 'url-host',
    summary: 'url has a host.',
  });
});

test('each is explained with an object, what is wrong with it, and the fix', async () => {
  for (const { id } of rules) {
    const { example } = JSON.parse((await runProgram(['rules', id, '--output', 'json'])).stdout);
    expect(example, id).toEqual({ bad: expect.any(Object), finding: expect.any(String), fix: expect.any(Object) });
  }
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
