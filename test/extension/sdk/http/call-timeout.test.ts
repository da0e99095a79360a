import { expect, test } from 'vitest';
import { callTimeoutMs } from '../../../../src/extension/sdk/http/handler.ts';

test.each([
  ['timeout=2s', 20, 2_000],
  ['a=b&timeout=1m0s&c=d', 20, 30_000],
  ['timeout=30.001s', 20, 30_000],
  ['timeout=1ms', undefined, 1],
  ['', 20, 20_000],
  ['', undefined, 10_000],
  ['', 31, 30_000],
  ['timeout=soon', undefined, 10_000],
  ['timeout=', 5, 5_000],
  ['timeout=0s', 5, 5_000],
  ['timeout=0', undefined, 10_000],
  ['timeout=-1s', 5, 5_000],
  ['mytimeout=2s', 5, 5_000],
])('%j for a handler with %s s is %i ms', (query, handlerSeconds, ms) => {
  expect(callTimeoutMs(query, handlerSeconds)).toBe(ms);
});
