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

test.each<[string, string | Buffer, string]>([
  ['nothing', '', 'EOF'],
  ['half a JSON', '{"status":"Succ', 'unexpected EOF'],
  ['a list', '[]', 'the message must be of type object, not array'],
  ['a wrong type', '{"status":1}', 'status must be of type string, not number'],
  [
    'a whole number with a fraction',
    '{"status":"Success","retryAfterSeconds":30.0}',
    'retryAfterSeconds must be of type integer, not number: Go takes 30, but neither 30.0 nor 3e1, for an integer',
  ],
  [
    'a whole number with an exponent, and more',
    '{"retryAfterSeconds": 3E1, "status":"Success"} {',
    'retryAfterSeconds must be of type integer, not number: Go takes 30, but neither 30.0 nor 3e1, for an integer',
  ],
  [
    'bytes that are not UTF-8',
    Buffer.from([0x7b, 0xff, 0x7d]),
    'the body is not valid JSON (at position 1 (line 1 column 2))',
  ],
])('an answer that is %s cannot be read', (_, body, problem) => {
  expect(readAnswer({ code: 200, body: Buffer.from(body) }, hook)).toEqual({
    step: 'decode',
    message: `http call failed: failed to decode response: ${problem}`,
    code: 200,
  });
});

test('an answer that nests deeper than 256 levels cannot be read', () => {
  const body = Buffer.from('['.repeat(1000) + ']'.repeat(1000));
  expect(readAnswer({ code: 200, body }, hook)).toMatchObject({
    step: 'decode',
    message: expect.stringContaining('nests deeper than 256 levels'),
  });
});

test.each([201, 204])('an answer with code %d is an error', (code) => {
  expect(readAnswer({ code, body: Buffer.from('{"status":"Success"}') }, hook)).toMatchObject({
    step: 'http',
    message: expect.stringContaining(`status code ${code} != 200`),
  });
});

test.each<[string, string | Buffer, object]>([
  [
    'only its first JSON value counts',
    '{"status":"Success","message":"a}]\\"","retryAfterSeconds":0} {"status":"Failure"}',
    { status: 'Success', message: 'a}]"', retryAfterSeconds: 0 },
  ],
  ['what follows need not be JSON', '{"status":"Success"}\u0000garbage', { status: 'Success' }],
  [
    'a text may have fractions',
    '{"status":"Success","message":"x: 30.0, 3e1"}',
    { status: 'Success', message: 'x: 30.0, 3e1' },
  ],
  [
    'a field that is not known may be a fraction',
    '{"status":"Success","unknown":30.0}',
    { status: 'Success', unknown: 30 },
  ],
  [
    'bytes that are not UTF-8 are replaced, as by Go',
    Buffer.from('{"status":"Success","message":"caf\u00e9"}', 'latin1'),
    { status: 'Success', message: 'caf\ufffd' },
  ],
])('of an answer, %s', (_, body, content) => {
  expect(readAnswer({ code: 200, body: Buffer.from(body) }, hook)).toEqual({ content });
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
