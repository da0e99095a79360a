import { describe, expect, test } from 'vitest';
import {
  conversionDataAnnotation,
  conversionDataBytes,
  conversionDataOf,
  type KeptValue,
  maxConversionDataBytes,
  withConversionData,
} from '../../../src/extensionconfig/conversion/conversion-data.ts';
import { ConversionError, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';

const withText = (text: Json): JsonObject => ({ metadata: { annotations: { [conversionDataAnnotation]: text } } });
const parsed = (text: Json) => conversionDataOf(withText(text));

test('data can be read up to the size that can be written: 256 KiB', () => {
  const padded = (length: number) => `{"v1":[]${' '.repeat(length - 9)}}`;
  expect(parsed(padded(maxConversionDataBytes))).toEqual(new Map([['v1', []]]));
  expect(parsed(padded(maxConversionDataBytes + 1))).toBeUndefined();
});

test.each<[string, Json]>([
  ['a text', 'x'],
  ['null', null],
  ['a list', [['a'], 1]],
  ['no path', { value: 1 }],
  ['no value', { path: ['a'] }],
  ['a path that is not a list', { path: 'a', value: 1 }],
])('an entry that is %s makes the data unreadable', (_, entry) => {
  expect(parsed(JSON.stringify({ v1: [{ path: ['a'], value: 1 }, entry] }))).toBeUndefined();
});

test.each<[string, Json]>([
  ['a number', 7],
  ['invalid JSON', '{'],
  ['a list', '[]'],
  ['null', 'null'],
  ['entries that are not a list', '{"v1":{}}'],
])('%s is not conversion data', (_, text) => {
  expect(parsed(text)).toBeUndefined();
});

test('written data can be read again, up to 256 KiB of UTF-8', () => {
  const kept = (value: string) => new Map<string, KeptValue[]>([['v1', [{ path: ['spec', { name: 'a' }], value }]]]);
  const written = (value: string) => withConversionData({}, kept(value));
  const empty = written('');
  expect(empty).toEqual(withText('{"v1":[{"path":["spec",{"name":"a"}],"value":""}]}'));
  expect(conversionDataOf(empty)).toEqual(kept(''));
  const room = maxConversionDataBytes - conversionDataBytes(empty);
  expect(conversionDataBytes(written('x'.repeat(room)))).toBe(maxConversionDataBytes);
  const tooLong = () => written(`${'x'.repeat(room - 1)}ä`);
  expect(tooLong).toThrow(ConversionError);
  expect(tooLong).toThrow(
    'would need 262145 bytes to keep what the other version cannot represent; the maximum is 262144',
  );
  try {
    tooLong();
  } catch (error) {
    expect((error as ConversionError).path).toEqual(['metadata', 'annotations', conversionDataAnnotation]);
  }
});

describe('metadata', () => {
  test.each<[string, Json]>([
    ['that is not an object', 'x'],
    ['whose annotations are not an object', { annotations: [] }],
  ])('%s has no room for data', (_, metadata) => {
    expect(() => withConversionData({ metadata }, new Map([['v1', []]]))).toThrow(
      'must be an object, and so must its annotations',
    );
  });

  test('preserves other annotations, and loses those that are not needed', () => {
    const annotations = { a: 'b', [conversionDataAnnotation]: 'x' };
    const object = { metadata: { name: 'n', annotations } };
    expect(withConversionData(object, new Map())).toEqual({ metadata: { name: 'n', annotations: { a: 'b' } } });
    expect(withConversionData(withText('x'), new Map())).toEqual({ metadata: {} });
    expect(object.metadata.annotations).toBe(annotations);
  });
});
