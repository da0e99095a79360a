import { expect, test } from 'vitest';
import { goDurationMs, timeText } from '../../../src/kubernetes/index.ts';

test('a time has whole seconds', () => {
  expect(timeText(new Date('2026-11-20T10:11:12.999Z'))).toBe('2026-11-20T10:11:12Z');
});

test.each([
  ['1ns', 1e-6],
  ['1us', 1e-3],
  ['2\u00b5s3\u03bcs', 5e-3],
  ['3ms', 3],
  ['200ms', 200],
  ['10s', 10_000],
  ['1m0s', 60_000],
  ['1.5s', 1500],
  ['1.s', 1000],
  ['.5s', 500],
  ['1h2m3s', 3_723_000],
  ['1m1ms', 60_001],
  ['0s', 0],
  ['0', 0],
  ['-0', 0],
  ['+1s', 1000],
  ['-1.5h', -5_400_000],
  ['1s'.repeat(21), 21_000],
  ['', undefined],
  ['-', undefined],
  ['00', undefined],
  ['10', undefined],
  ['soon', undefined],
  ['s', undefined],
  ['.s', undefined],
  ['--1s', undefined],
  ['1-1s', undefined],
  ['1S', undefined],
  ['1d', undefined],
  ['1s1', undefined],
  ['1s 1s', undefined],
  ['1constructor', undefined],
])('the duration %j', (text, ms) => {
  expect(goDurationMs(text)).toEqual(ms === undefined ? undefined : expect.closeTo(ms, 9));
});

test('a duration may have more units', () => {
  expect(goDurationMs('1d1h', { d: 86_400_000 })).toBe(90_000_000);
});
