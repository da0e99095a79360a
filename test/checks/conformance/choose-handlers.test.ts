import { expect, test } from 'vitest';
import { chooseHandlers } from '../../../src/checks/conformance/choose-handlers.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { formatHook, hooks } from '../../../src/runtimehooks/index.ts';

const { DiscoverVariables, GeneratePatches, BeforeClusterCreate, Discovery } = hooks;
const known = [BeforeClusterCreate, DiscoverVariables, GeneratePatches, Discovery];

const discovered = (hook: keyof typeof hooks, name: string, timeoutSeconds?: number) => ({
  name: `${name}.extension`,
  requestHook: { apiVersion: `${hooks[hook].group}/${hooks[hook].version}`, hook },
  timeoutSeconds,
  failurePolicy: undefined,
});

function choose(
  handlers: readonly ReturnType<typeof discovered>[],
  withSideEffects = true,
  requests: ReadonlyMap<string, JsonObject> = new Map(),
) {
  return chooseHandlers(handlers as never, { color: 'red' }, [], { hooks: known, withSideEffects, requests });
}

test("handlers are called in the order of a Cluster's lifecycle, those of one hook in the order of discovery", () => {
  const { handlers, notCalled } = choose([
    discovered('GeneratePatches', 'b'),
    discovered('GeneratePatches', 'a'),
    discovered('BeforeClusterCreate', 'with.dots'),
    discovered('DiscoverVariables', 'c'),
  ]);
  expect(handlers.map(({ name, hook }) => [name, hook.name])).toEqual([
    ['with.dots', 'BeforeClusterCreate'],
    ['c', 'DiscoverVariables'],
    ['b', 'GeneratePatches'],
    ['a', 'GeneratePatches'],
  ]);
  expect(notCalled).toEqual([]);
});

test('handlers that are not called are listed with the first reason that applies', () => {
  const { handlers, notCalled } = choose(
    [
      discovered('BeforeClusterCreate', 'create'),
      discovered('Discovery', 'discovery'),
      discovered('BeforeClusterUpgrade', 'upgrade'),
      discovered('DiscoverVariables', 'variables'),
      ...Array.from({ length: 61 }, (_, i) => discovered('GeneratePatches', `patches-${i}`)),
      discovered('BeforeClusterCreate', 'late'),
      discovered('Discovery', 'late-discovery'),
    ],
    false,
  );
  expect(handlers).toHaveLength(61);
  const unknown = 'the messages of their hooks are unknown';
  const late = 'only the first 64 handlers are called';
  expect(notCalled).toEqual([
    {
      name: 'create',
      reason: 'their hooks act on Clusters: call them for made-up objects with --with-side-effects',
    },
    { name: 'discovery', reason: unknown },
    { name: 'upgrade', reason: unknown },
    { name: 'patches-60', reason: late },
    { name: 'late', reason: late },
    { name: 'late-discovery', reason: unknown },
  ]);
});

test.each([
  [undefined, 10],
  [0, 10],
  [1, 1],
  [30, 30],
  [31, 10],
])('a timeout of %s s counts as %i s', (timeoutSeconds, counted) => {
  const { handlers } = choose([discovered('GeneratePatches', 'a', timeoutSeconds)]);
  expect(handlers[0]?.timeoutSeconds).toBe(counted);
});

test("a user's request replaces the generated one; both contain the settings", () => {
  const own = { apiVersion: 'x', kind: 'y', items: [] };
  const requests = new Map([[formatHook(GeneratePatches), own]]);
  const handlers = [discovered('GeneratePatches', 'a'), discovered('DiscoverVariables', 'b')];
  const requestsMade = choose(handlers, true, requests).handlers.map(({ request }) => request);
  expect(requestsMade).toMatchObject([{ kind: 'DiscoverVariablesRequest', settings: { color: 'red' } }, { items: [] }]);
  expect(choose(handlers).handlers[1]?.request.items).not.toEqual([]);
});
