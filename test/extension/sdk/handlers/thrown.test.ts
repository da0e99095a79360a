import { expect, test } from 'vitest';
import { fault } from '../../../../src/extension/sdk/handlers/thrown.ts';

const long = 'x'.repeat(20_001);
const shortened = long.slice(0, 20_000);

test.each<[string, unknown, object]>([
  ['an error', new TypeError('no'), { error: 'TypeError', message: 'no' }],
  ['a long error', Object.assign(new Error(long), { stack: long }), { message: shortened, stack: shortened }],
  ['an error without a stack', Object.assign(new Error('no'), { stack: undefined }), { message: 'no', stack: '' }],
  ['an error whose message is no text', Object.assign(new Error('no'), { message: 5 }), { message: '5' }],
  ['a text', long, { error: 'string', message: shortened }],
  ['undefined', undefined, { error: 'undefined', message: 'undefined' }],
  [
    'an object, in one line',
    { a: 'a'.repeat(80), b: 'b' },
    { error: 'object', message: `{ a: '${'a'.repeat(80)}', b: 'b' }` },
  ],
  ['an object without a prototype', Object.create(null), { message: '[Object: null prototype] {}' }],
  [
    'an error that cannot be read',
    Object.defineProperty(new Error('no'), 'name', {
      get() {
        throw new Error('unreadable');
      },
    }),
    { error: 'object', message: 'it cannot be shown: reading it throws an error' },
  ],
])('the log shows %s', (_name, thrown, expected) => {
  expect(fault(thrown)).toMatchObject(expected);
});

test('a long object is shown up to the same length', () => {
  expect(fault(new Array(5).fill('x'.repeat(9_000))).message).toHaveLength(20_000);
});

test('five causes are shown, even of an error that is its own cause; without a cause there is none', () => {
  const error: Error = new Error('no');
  error.cause = error;
  let depth = 0;
  for (let at = fault(error).cause; at !== undefined; at = at.cause) {
    depth++;
  }
  expect(depth).toBe(5);
  expect(fault(new Error('no'))).not.toHaveProperty('cause');
});
