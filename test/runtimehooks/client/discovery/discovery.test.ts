import { expect, test } from 'vitest';
import type { Json } from '../../../../src/kubernetes/index.ts';
import { readDiscovery } from '../../../../src/runtimehooks/client/index.ts';
import { createHookCatalog, hooksGroup, parseRelease } from '../../../../src/runtimehooks/index.ts';

const known = (release = '1.14') => ({ catalog: createHookCatalog(), release: parseRelease(release)! });
const requestHook = { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'BeforeClusterCreate' };
const good = { name: 'a', requestHook };
const read = (handlers: Json, release?: string) => readDiscovery({ handlers }, 'one', known(release));

test('applies defaults, and keeps the order of the response', () => {
  expect(
    read([
      { ...good, name: 'b', timeoutSeconds: 0 },
      { ...good, timeoutSeconds: 5, failurePolicy: 'Ignore' },
    ]),
  ).toEqual({
    problems: [],
    handlers: [
      { name: 'b.one', requestHook, failurePolicy: 'Fail' },
      { name: 'a.one', requestHook, failurePolicy: 'Ignore', timeoutSeconds: 5 },
    ],
  });
  expect(readDiscovery({}, 'one', known())).toEqual({ handlers: [], problems: [] });
});

const catalogText = 'is not in the Runtime SDK catalog';
// Cluster API's checks, in its own words.
test.each<[string, Json, string[]]>([
  [
    'a name twice',
    [good, { ...good, requestHook: { ...requestHook, hook: 'BeforeClusterDelete' } }, good],
    ['duplicate name for handler a found'],
  ],
  ['an upper case name', [{ ...good, name: 'A' }], ['handler name A is not valid: [']],
  ['a name with a dot', [{ ...good, name: 'a.b' }], ['handler name a.b is not valid: [']],
  ['no name', [{ requestHook }], ['handler name  is not valid: [']],
  ['a long timeout', [{ ...good, timeoutSeconds: 31 }], ['handler a timeoutSeconds 31 must be between 0 and 30']],
  ['a negative timeout', [{ ...good, timeoutSeconds: -1 }], ['handler a timeoutSeconds -1 must be between 0 and 30']],
  [
    'a policy in lower case',
    [{ ...good, failurePolicy: 'ignore' }],
    ['handler a failurePolicy ignore must equal "Ignore" or "Fail"'],
  ],
  ['an empty policy', [{ ...good, failurePolicy: '' }], ['handler a failurePolicy  must equal "Ignore" or "Fail"']],
  [
    'a path as version',
    [{ ...good, requestHook: { ...requestHook, apiVersion: 'a/b/c' } }],
    ['handler a requestHook APIVersion a/b/c is not valid: unexpected GroupVersion string: a/b/c'],
  ],
  [
    'a hook in another case',
    [{ ...good, requestHook: { ...requestHook, hook: 'beforeClusterCreate' } }],
    [`handler a requestHook ${hooksGroup}/v1alpha1/beforeClusterCreate ${catalogText}`],
  ],
  [
    'everything at once',
    [{ name: 'A', timeoutSeconds: 99, failurePolicy: 'x', requestHook: {} }],
    [
      'handler name A',
      'handler A timeoutSeconds 99',
      'handler A failurePolicy x',
      `handler A requestHook / ${catalogText}`,
    ],
  ],
])('%s', (_name, handlers, messages) => {
  const { problems } = read(handlers);
  expect(problems).toHaveLength(messages.length);
  for (const [index, message] of messages.entries()) {
    expect(problems[index]?.message).toContain(message);
    expect(problems[index]?.remedy).not.toBe('');
  }
});

test('a hook that the targeted release lacks invalidates the extension', () => {
  const handlers = [{ ...good, requestHook: { ...requestHook, hook: 'UpdateMachine' } }];
  expect(read(handlers, '1.12').problems).toEqual([]);
  expect(read(handlers, '1.11').problems).toEqual([
    {
      handler: 'a',
      message: `handler a requestHook ${hooksGroup}/v1alpha1/UpdateMachine ${catalogText}`,
      remedy:
        'upgrade Cluster API first, then the extension: one such handler makes Cluster API refuse the whole extension',
    },
  ]);
});

test('does not trust the response', () => {
  const { handlers, problems } = read([{ name: `\u001b[31m${'x'.repeat(100_000)}`, requestHook }, {}]);
  expect(JSON.stringify([handlers, problems]).length).toBeLessThan(20_000);
  expect(JSON.stringify(handlers)).not.toContain('\\u001b');
  const many = Array.from({ length: 100_000 }, (_, index) => ({ ...good, name: `h${index}` }));
  const large = read(many);
  expect(large.problems[0]?.message).toBe('100000 handlers do not fit into status.handlers');
  expect(large.handlers).toHaveLength(512);
});
