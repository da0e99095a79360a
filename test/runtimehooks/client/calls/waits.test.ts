import { expect, test } from 'vitest';
import { selectorFor } from '../../../../src/runtimehooks/client/calls/selection.ts';
import { createWaits } from '../../../../src/runtimehooks/client/calls/waits.ts';
import { hooks } from '../../../../src/runtimehooks/index.ts';

const hook = hooks.BeforeClusterUpgrade;
const object = { namespace: 'default', name: 'lab', uid: 'u' };
const empty = { apiVersion: `${hook.group}/v1alpha1`, kind: 'BeforeClusterUpgradeResponse', status: 'Success' };

test('only blocking hooks have waits, and only for objects with a UID', () => {
  const { keyOf } = createWaits(() => 0);
  expect(keyOf(hooks.GeneratePatches, object)).toBeUndefined();
  expect(keyOf(hook, { namespace: 'default', name: 'lab' })).toBeUndefined();
  const keys = [
    keyOf(hook, object),
    keyOf(hook, { ...object, uid: 'other' }),
    keyOf(hook, object, 'a.one'),
    keyOf(hook, object, 'b.one'),
    keyOf(hooks.BeforeClusterDelete, object),
  ];
  expect(new Set(keys).size).toBe(5);
  expect(keyOf(hook, object)).toBe(keys[0]);
});

test.each([
  ['a text', 90, 'wait', { message: 'wait', retryAfterSeconds: 90 }],
  ['no message', 90, 7, { message: '', retryAfterSeconds: 90 }],
  ['more than a day', 90_000, '', { message: '', retryAfterSeconds: 86_400 }],
  ['no wait', 0, 'x', undefined],
  ['a value that is not a number', '90', 'x', undefined],
  ['nothing', undefined, undefined, undefined],
])('an answer with %s', (_, retryAfterSeconds, message, running) => {
  const waits = createWaits(() => 0);
  waits.remember('k', { retryAfterSeconds, message } as never);
  waits.remember(undefined, { retryAfterSeconds: 5, message: 'of nobody' } as never);
  expect(waits.running(hook, 'k')).toEqual(running && { ...empty, ...running });
  expect([waits.running(hook, 'other'), waits.running(hook, undefined)]).toEqual([undefined, undefined]);
});

test('the rest of a wait is at least a second', () => {
  let now = 0;
  const waits = createWaits(() => now);
  waits.remember('k', { retryAfterSeconds: 3, message: 'm' } as never);
  const left = [0, 1, 1000, 2500, 2999, 3000].map((at) => {
    now = at;
    return waits.running(hook, 'k')?.retryAfterSeconds;
  });
  expect(left).toEqual([3, 3, 2, 1, 1, undefined]);
});

test.each<[string, object | undefined, boolean]>([
  ['none', undefined, false],
  ['an empty one', {}, true],
  ['one of empty parts', { matchLabels: {}, matchExpressions: [] }, true],
  ['one that matches', { matchLabels: { a: 'x' } }, true],
  ['one that does not', { matchLabels: { a: 'y' } }, false],
])('a namespaceSelector: %s', async (_, namespaceSelector, isSelected) => {
  const looked: string[] = [];
  const selects = selectorFor(object, async (namespace) => {
    looked.push(namespace);
    return { a: 'x' };
  });
  const extension = { name: 'one', namespaceSelector } as never;
  expect([await selects(extension), await selects(extension)]).toEqual([isSelected, isSelected]);
  expect(looked).toEqual(
    Object.values((namespaceSelector as object) ?? {}).some((part) => 'a' in part) ? ['default'] : [],
  );
});

test('without a way to look up labels no extension is left out silently; why they cannot be read is reported', async () => {
  const extension = { name: 'one', namespaceSelector: { matchLabels: { a: 'x' } } } as never;
  expect(await selectorFor(object, undefined)(extension)).toEqual({
    step: 'selector',
    message: expect.stringMatching(
      /^failed to match namespace: failed to get namespace default: .*pass namespaceLabels to createClient$/,
    ),
  });
  expect(await selectorFor(object, undefined)({ name: 'all', namespaceSelector: {} } as never)).toBe(true);
  const failing = selectorFor(object, () => Promise.reject(new Error('no route')));
  expect(await failing(extension)).toEqual({
    step: 'selector',
    message: 'failed to match namespace: failed to get namespace default: no route',
  });
});
