import { expect, test } from 'vitest';
import { Backoff } from '../../../../src/runtimehooks/client/exchange/backoff.ts';

test('each failure doubles the wait, up to a minute', () => {
  let now = 0;
  const backoff = new Backoff(() => now);
  const one = { name: 'one', uid: 'u' };
  const waits: number[] = [];
  for (let failures = 1; failures <= 20; failures++) {
    backoff.failed(one, `no ${failures}`);
    expect(backoff.holds(one)).toMatchObject({ failures, lastError: `no ${failures}` });
    waits.push(backoff.holds(one)?.waitMs ?? 0);
    // A concurrent call that fails is not another failure.
    backoff.failed(one, 'beside');
    now += waits.at(-1) as number;
    expect(backoff.holds(one)).toBeUndefined();
  }
  expect(waits.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  expect(new Set(waits.slice(6))).toEqual(new Set([60_000]));
});

test('the backoff of an extension ends when it is forgotten, and of no other', () => {
  const backoff = new Backoff(() => 0);
  const [one, two] = [
    { name: 'one', uid: 'u' },
    { name: 'two', uid: 'u' },
  ];
  backoff.failed(one, 'x');
  backoff.failed(two, 'x');
  // An extension that was created again with the same name has not failed.
  expect(backoff.holds({ name: 'one', uid: 'new' })).toBeUndefined();
  backoff.forget('one');
  expect([backoff.holds(one), backoff.holds(two)]).toMatchObject([undefined, { waitMs: 1000 }]);
  backoff.failed(one, 'y');
  expect(backoff.holds(one)).toMatchObject({ waitMs: 1000, failures: 1, lastError: 'y' });
});
