import { expect, test } from 'vitest';
import { ConnectionError, StatusError } from '../../../../src/kubernetes/client/index.ts';
import { type AfterWatch, WatchRetries } from '../../../../src/kubernetes/client/watches/retries.ts';

const pace = { minRetryMs: 100, maxRetryMs: 350 };
const lost = new ConnectionError('https://server', 'ECONNRESET');
const failed = new StatusError(500, 'broken');
const busy = new StatusError(503, 'busy', 30_000);
const tooOld = new StatusError(410, 'too old');
const wait = (waitMs: number) => ({ waitMs, isProblem: true });
/** Before everything is listed again, which is no problem yet. */
const pause = { waitMs: 100, isProblem: false };

/**
 * How a watch ended: with its error, or normally; after how long, in ms; whether it was accepted; how much it reported.
 */
type End = [error: Error | undefined, lastedMs: number, isOpen?: boolean, events?: number];
const inOrder: End = [undefined, 100];
const atOnce: End = [undefined, 99];

test.each<[string, End[], AfterWatch[]]>([
  ['normally', [inOrder, inOrder, inOrder], ['again', 'again', 'again']],
  ['at once', [atOnce, atOnce, atOnce, atOnce], [wait(100), wait(200), wait(350), wait(350)]],
  ['with an error', [[failed, 1000], [failed, 0], atOnce], [wait(100), wait(200), wait(350)]],
  [
    'with an error, then normally',
    [[failed, 0], [failed, 0], inOrder, [failed, 0]],
    [wait(100), wait(200), 'again', wait(100)],
  ],
  ['with a connection that lasted a while', [[lost, 100], inOrder, [lost, 100]], [pause, 'again', pause]],
  [
    'at once, but with an event',
    [atOnce, atOnce, [undefined, 0, true, 1], atOnce],
    [wait(100), wait(200), 'again', wait(100)],
  ],
  [
    'with connections that all last a while and are cut, as by a load balancer',
    [
      [failed, 0],
      [lost, 100],
      [lost, 100],
      [lost, 100],
      [failed, 0],
    ],
    [wait(100), pause, pause, pause, wait(100)],
  ],
  [
    'with connections that are cut after each event',
    [
      [failed, 0],
      [failed, 0],
      [lost, 0, true, 1],
      [lost, 0, true, 1],
      [lost, 99],
    ],
    [wait(100), wait(200), wait(100), wait(100), wait(200)],
  ],
  [
    'with connections that are cut before the first event',
    [
      [lost, 99],
      [lost, 99],
    ],
    [wait(100), wait(200)],
  ],
  [
    'before they are accepted, however late',
    [
      [lost, 20_000, false],
      [lost, 20_000, false],
    ],
    [wait(100), wait(200)],
  ],
  ['with a connection that did not last', [[lost, 99]], [wait(100)]],
  ['with a version that is too old', [[tooOld, 0], inOrder, [tooOld, 0]], [pause, 'again', pause]],
  [
    'with one that is too old again',
    [
      [tooOld, 0],
      [tooOld, 0],
    ],
    [pause, wait(200)],
  ],
  [
    'with a problem, then a version that is too old',
    [
      [failed, 0],
      [tooOld, 0],
    ],
    [wait(100), wait(200)],
  ],
  [
    'with a server that asks to wait',
    [
      [busy, 0],
      [failed, 0],
    ],
    [wait(30_000), wait(200)],
  ],
])('after watches that end %s', (_what, ends, expected) => {
  const retries = new WatchRetries(pace);
  const after = ends.map(([error, lastedMs, isOpen = true, events = 0]) => {
    const life = { isOpen, lastedMs, events };
    return retries.after(life, error);
  });
  expect(after).toEqual(expected);
});

test('jitter changes a wait, but not one that the server asks for', () => {
  const retries = new WatchRetries(pace, () => 0.75);
  const life = { isOpen: true, lastedMs: 0, events: 0 };
  expect(retries.after(life, failed)).toEqual(wait(75));
  expect(retries.after(life, failed)).toEqual(wait(150));
  expect(retries.after(life, busy)).toEqual(wait(30_000));
});

test.each([
  ['lost connection', lost],
  ['version that is too old', tooOld],
])('after a %s, which all replicas meet at once, each lists after a wait of its own', (_, error) => {
  const life = { isOpen: true, lastedMs: 30_000, events: 1 };
  const waits = [1.25, 1.75].map((factor) => new WatchRetries(pace, () => factor).after(life, error));
  expect(waits).toEqual([125, 175].map((waitMs) => ({ waitMs, isProblem: false })));
});
