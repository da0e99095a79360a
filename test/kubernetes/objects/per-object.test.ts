import { expect, test } from 'vitest';
import { bytesOf, percentEncoded } from '../../../src/base/go-text/index.ts';
import { perObject, timeText } from '../../../src/kubernetes/index.ts';

test('the result for an object is computed once, even if it is undefined', () => {
  const calls: object[] = [];
  const nameOf = perObject((object: { name?: string }) => {
    calls.push(object);
    return object.name;
  });
  const [a, none] = [{ name: 'a' }, {}];
  expect([nameOf(a), nameOf(none), nameOf(a), nameOf(none)]).toEqual(['a', undefined, 'a', undefined]);
  expect(calls).toEqual([a, none]);
});

test('a time is written in whole seconds', () => {
  expect(timeText(new Date('2026-01-02T03:04:05.678Z'))).toBe('2026-01-02T03:04:05Z');
});

test('bytes are written in percent-encoding', () => {
  expect([...bytesOf('\té')].map(percentEncoded)).toEqual(['%09', '%C3', '%A9']);
});
