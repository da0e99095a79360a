import { describe, expect, test } from 'vitest';
import {
  type ConversionData,
  formatConversionData,
  listItemKey,
  maxConversionDataBytes,
  parseConversionData,
  patternOf,
} from '../../../src/extensionconfig/conversion/conversion-data.ts';
import { ConversionError, type Json } from '../../../src/kubernetes/index.ts';

const ofVersions = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, []])));

test('data for more versions than an API has is not conversion data', () => {
  expect([...(parseConversionData(ofVersions(16)) ?? [])]).toHaveLength(16);
  expect(parseConversionData(ofVersions(17))).toBeUndefined();
});

test('data can be read up to the size that can be written: 256 KiB', () => {
  const padded = (length: number) => `{"v1":[]${' '.repeat(length - 9)}}`;
  expect(parseConversionData(padded(maxConversionDataBytes))).toEqual(new Map([['v1', []]]));
  expect(parseConversionData(padded(maxConversionDataBytes + 1))).toBeUndefined();
});

describe('an entry', () => {
  const parsed = (entry: Json) => parseConversionData(JSON.stringify({ v1: [entry] }));

  test.each<[string, Json]>([
    ['a property', { path: ['spec'], value: 0 }],
    ['all sorts of steps', { path: ['spec', { name: 'a' }, ['key'], {}], value: null }],
    ['a value of any sort', { path: ['a'], value: { b: [1, 'x'] } }],
  ])('consists of a path and a value: %s', (_, entry) => {
    expect(parsed(entry)).toEqual(new Map([['v1', [entry]]]));
  });

  test('loses any other fields', () => {
    expect(parsed({ path: ['a'], value: 1, more: 2 })).toEqual(new Map([['v1', [{ path: ['a'], value: 1 }]]]));
  });

  test.each<[string, Json]>([
    ['a text', 'x'],
    ['null', null],
    ['a list', [['a'], 1]],
    ['no path', { value: 1 }],
    ['no value', { path: ['a'] }],
    ['a path that is not a list', { path: 'a', value: 1 }],
    ['a path of no steps', { path: [], value: 1 }],
    ['a number as a step', { path: ['a', 0], value: 1 }],
    ['null as a step', { path: [null], value: 1 }],
    ['a key in two brackets', { path: [['a', 'b']], value: 1 }],
    ['no key in brackets', { path: [[]], value: 1 }],
    ['a key that is not a text', { path: [[1]], value: 1 }],
  ])('otherwise makes the data unreadable: %s', (_, entry) => {
    expect(parsed(entry)).toBeUndefined();
    expect(parseConversionData(JSON.stringify({ v1: [{ path: ['a'], value: 1 }, entry] }))).toBeUndefined();
  });
});

test.each<[string, Json]>([
  ['a number', 7],
  ['invalid JSON', '{'],
  ['a list', '[]'],
  ['null', 'null'],
  ['entries that are not a list', '{"v1":{}}'],
])('%s is not conversion data', (_, text) => {
  expect(parseConversionData(text)).toBeUndefined();
});

test('written data can be read again, up to 256 KiB of UTF-8', () => {
  const kept = (value: string): ConversionData => new Map([['v1', [{ path: ['spec', { name: 'a' }, ['k']], value }]]]);
  const empty = formatConversionData(kept(''), 'a.example/kept');
  expect(empty).toBe('{"v1":[{"path":["spec",{"name":"a"},["k"]],"value":""}]}');
  expect(parseConversionData(empty)).toEqual(kept(''));
  const room = maxConversionDataBytes - Buffer.byteLength(empty);
  expect(formatConversionData(kept('x'.repeat(room)), 'a.example/kept')).toHaveLength(maxConversionDataBytes);
  const tooLong = () => formatConversionData(kept(`${'x'.repeat(room - 1)}ä`), 'a.example/kept');
  expect(tooLong).toThrow(ConversionError);
  expect(tooLong).toThrow(
    'would need 262145 bytes to keep what the other version cannot represent; the maximum is 262144',
  );
  try {
    tooLong();
  } catch (error) {
    expect((error as ConversionError).path).toEqual(['metadata', 'annotations', 'a.example/kept']);
  }
});

test('formats a path in the notation of plans', () => {
  expect(patternOf(['status', 'handlers', { name: 'a' }, 'timeoutSeconds'])).toBe('status.handlers[].timeoutSeconds');
  expect(patternOf(['rooms', ['main'], 'smell'])).toBe('rooms{}.smell');
  expect(patternOf(['a'])).toBe('a');
});

test('reads the keys of a list item, as far as it has them', () => {
  expect(listItemKey({ name: 'a', port: 1, more: 2 }, ['name', 'port'])).toEqual({ name: 'a', port: 1 });
  expect(listItemKey({ port: null }, ['name', 'port'])).toEqual({ port: null });
  expect(listItemKey({}, ['toString'])).toEqual({});
  expect(listItemKey('x', ['length'])).toEqual({});
});
