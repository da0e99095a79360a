import { expect, test } from 'vitest';
import { complete, readAnswer } from '../../../../src/runtimehooks/client/index.ts';
import { hooks } from '../../../../src/runtimehooks/index.ts';

const hook = hooks.BeforeClusterUpgrade;

test.each([
  [512, ''],
  [513, '...'],
])('of an error response with %d bytes, 512 are quoted', (length, end) => {
  expect(readAnswer({ code: 500, body: Buffer.alloc(length, 'x') }, hook)).toEqual({
    step: 'http',
    message: `http call failed: got response with status code 500 != 200: response : "${'x'.repeat(512)}${end}"`,
    code: 500,
  });
});

test.each<[string, object, Record<string, string>, object]>([
  ['none', {}, {}, {}],
  ['those of the extension', {}, { a: '1' }, { settings: { a: '1' } }],
  ['those of the request', { settings: { b: '2' } }, {}, { settings: { b: '2' } }],
  ['both', { settings: { b: '2' } }, { a: '1', b: '1' }, { settings: { a: '1', b: '2' } }],
])('the settings of a request: %s', (_, request, settings, expected) => {
  const typed = { apiVersion: `${hook.group}/v1alpha1`, kind: 'BeforeClusterUpgradeRequest' };
  expect(complete(hook, request, settings)).toEqual({ ...typed, ...expected });
});

test('a request of discovery has no settings', () => {
  expect(complete(hooks.Discovery, {}, { a: '1' })).not.toHaveProperty('settings');
});
