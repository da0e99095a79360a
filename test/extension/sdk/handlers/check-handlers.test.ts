import { describe, expect, test } from 'vitest';
import { createExtensionServer, type Handler, HandlersError, handler } from '../../../../src/extension/index.ts';
import { hooks } from '../../../../src/runtimehooks/index.ts';

/** What is said of handlers before they are served. */
function checkHandlers(handlers: readonly Handler[]): { problems: readonly string[]; warnings: readonly string[] } {
  try {
    return { problems: [], warnings: createExtensionServer({ handlers }).warnings };
  } catch (error) {
    return { problems: (error as HandlersError).problems, warnings: [] };
  }
}

const create = handler('BeforeClusterCreate', { name: 'create', handle: (_, { answer }) => answer.done() });
const after = handler('AfterControlPlaneInitialized', { name: 'after', handle: (_, { answer }) => answer.done() });
const update = handler('CanUpdateMachine', { name: 'can', handle: (_, { answer }) => answer.done() });
const as = (base: Handler, more: Partial<Handler>): Handler => ({ ...base, ...more });
const seconds = (timeoutSeconds: number) => checkHandlers([as(create, { timeoutSeconds })]);
const who = 'handler "create" of hooks.runtime.cluster.x-k8s.io/v1alpha1, Hook=BeforeClusterCreate';

test('no handlers are a problem, and valid ones have none', () => {
  const problems = ['handlers is empty: Cluster API would never call this extension'];
  expect(checkHandlers([])).toEqual({ problems, warnings: [] });
  expect(checkHandlers([create, after, update])).toEqual({ problems: [], warnings: [] });
});

describe('the timeout', () => {
  test.each([0, 31, 1.5, -1, Number.NaN])('of %d is rejected', (value) => {
    const problem = `${who}: timeoutSeconds ${value} is not a whole number from 1 to 30; long work goes to the background`;
    expect(seconds(value)).toEqual({ problems: [problem], warnings: [] });
  });

  test.each([1, 10])('of %d is accepted', (value) => {
    expect(seconds(value)).toEqual({ problems: [], warnings: [] });
  });

  test.each([11, 30])('of %d causes a warning', (value) => {
    const warning = `${who}: timeoutSeconds ${value} is more than 10: reconciling a Cluster ends after a minute, all handlers together`;
    expect(seconds(value)).toEqual({ problems: [], warnings: [warning] });
  });
});

describe('the failure policy', () => {
  test.each<[string, Handler, string[]]>([
    ['Fail', as(create, { failurePolicy: 'Fail' }), []],
    ['Ignore where nothing is blocked', as(after, { failurePolicy: 'Ignore' }), []],
    [
      'Ignore where it would block',
      as(create, { failurePolicy: 'Ignore' }),
      [`${who}: with failurePolicy Ignore an outage of this server lets through what it should block`],
    ],
  ])('%s', (_, one, warnings) => {
    expect(checkHandlers([one])).toEqual({ problems: [], warnings });
  });
});

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'handlers[1] is not a handler: create it with handler(hook, { name, handle })'],
  ['a hook by its name', { ...create, hook: 'BeforeClusterCreate' }, 'handlers[1] is not a handler: create it with'],
])('a handler that has %s is rejected', (_, wrong, problem) => {
  expect(checkHandlers([after, wrong as Handler]).problems).toEqual([expect.stringContaining(problem)]);
});

test('Discovery cannot be handled: the server does that itself', () => {
  const discovery = { ...create, name: 'd', hook: hooks.Discovery };
  expect(checkHandlers([discovery]).problems).toEqual([
    'handler "d" of hooks.runtime.cluster.x-k8s.io/v1alpha1, Hook=Discovery: the server answers Discovery itself; leave this handler out',
  ]);
});

test('in-place update hooks have one handler each, others may have several', () => {
  const set = handler('CanUpdateMachineSet', { name: 'set', handle: (_, { answer }) => answer.done() });
  expect(checkHandlers([update, set, create, as(create, { name: 'create-too' })]).problems).toEqual([]);
  expect(checkHandlers([update, set, as(update, { name: 'can-too' })]).problems).toEqual([
    'handler "can-too" of hooks.runtime.cluster.x-k8s.io/v1alpha1, Hook=CanUpdateMachine: handler "can" of hooks.runtime.cluster.x-k8s.io/v1alpha1, Hook=CanUpdateMachine serves the same hook, of which Cluster API accepts one',
  ]);
});

test('an ExtensionConfig can have 512 handlers', () => {
  const many = Array.from({ length: 513 }, (_, index) => as(create, { name: `h${index}` }));
  expect(checkHandlers(many.slice(1)).problems).toEqual([]);
  expect(checkHandlers(many).problems).toEqual(['there are 513 handlers: an ExtensionConfig takes at most 512']);
});

test('the message lists all problems, one per line', () => {
  const handlers = [as(create, { timeoutSeconds: 0 }), as(after, { timeoutSeconds: 31 })];
  const { problems } = checkHandlers(handlers);
  expect(problems).toHaveLength(2);
  expect(() => createExtensionServer({ handlers })).toThrow(new HandlersError(problems));
  expect(new HandlersError(['a', 'b']).message).toBe('the handlers cannot be served:\n- a\n- b');
});

test("a hook that is not Cluster API's is rejected by its name", () => {
  const made = (name: string) => () =>
    handler(name as 'BeforeClusterCreate', { name: 'x', handle: () => undefined as never });
  expect(made('BeforeLunch')).toThrow(
    /^"BeforeLunch" is not a hook: pass one of BeforeClusterCreate, .*GenerateUpgradePlan$/,
  );
  expect(made('constructor')).toThrow(TypeError);
});
