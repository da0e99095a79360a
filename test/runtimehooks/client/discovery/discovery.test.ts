import { expect, test } from 'vitest';
import type { Json } from '../../../../src/kubernetes/index.ts';
import { readDiscovery } from '../../../../src/runtimehooks/client/index.ts';
import { createHookCatalog, hooksGroup, parseRelease } from '../../../../src/runtimehooks/index.ts';

/** A version that 1.2 and later do not have. */
const removed = {
  ...{ group: hooksGroup, version: 'v1alpha0', name: 'BeforeClusterCreate' },
  introduced: parseRelease('1.0')!,
  removed: parseRelease('1.2')!,
};
const known = (release = '1.14') => ({ catalog: createHookCatalog([removed]), release: parseRelease(release)! });
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
  expect(read([{}]).handlers).toEqual([
    { name: '.one', requestHook: { apiVersion: '', hook: '' }, timeoutSeconds: 10, failurePolicy: 'Fail' },
  ]);
});

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const nameRemedy = 'use lower case letters, digits and hyphens, at most 63';
const badName = (name: string, problem: string) => `handler name ${name} is not valid: [${problem}]; ${nameRemedy}`;
const badTimeout = (name: string, seconds: number) =>
  `handler ${name} timeoutSeconds ${seconds} must be between 0 and 30; ask for at most 10 seconds, and do long work in the background`;
const badPolicy = (name: string, policy: string) =>
  `handler ${name} failurePolicy ${policy} must equal "Ignore" or "Fail"; write Fail or Ignore in exactly this case, or omit it`;
const unknown = (name: string, hook: string, remedy: string) =>
  `handler ${name} requestHook ${hook} is not in the Runtime SDK catalog; ${remedy}: one such handler makes Cluster API refuse the whole extension`;
const ofVersion = (apiVersion: string) => ({ ...good, requestHook: { ...requestHook, apiVersion } });
const ofHook = (hook: string) => ({ ...good, requestHook: { ...requestHook, hook } });

// Cluster API's checks, in its own words, and what to do.
test.each<[string, Json, string[]]>([
  [
    'a name twice',
    [good, ofHook('BeforeClusterDelete'), good],
    ['duplicate name for handler a found; give each handler of the server a unique name, even across hooks'],
  ],
  ['an upper case name', [{ ...good, name: 'A' }], [badName('A', label)]],
  ['a name with a dot', [{ ...good, name: 'a.b' }], [badName('a.b', 'must not contain dots')]],
  ['a name with a dot and upper case', [{ ...good, name: 'a.B' }], [badName('a.B', label)]],
  ['a hyphen at the beginning', [{ ...good, name: '-a' }], [badName('-a', label)]],
  ['a hyphen at the end', [{ ...good, name: 'a-' }], [badName('a-', label)]],
  ['a name of 63 characters', [{ ...good, name: 'a-'.repeat(31).concat('a') }], []],
  [
    'a name of 64 characters',
    [{ ...good, name: 'a'.repeat(64) }],
    [badName('a'.repeat(64), 'must be no more than 63 characters')],
  ],
  ['no name', [{ requestHook }], [badName('', label)]],
  ['the longest timeout', [{ ...good, timeoutSeconds: 30 }], []],
  ['a longer timeout', [{ ...good, timeoutSeconds: 31 }], [badTimeout('a', 31)]],
  ['a negative timeout', [{ ...good, timeoutSeconds: -1 }], [badTimeout('a', -1)]],
  ['a policy in lower case', [{ ...good, failurePolicy: 'ignore' }], [badPolicy('a', 'ignore')]],
  ['an empty policy', [{ ...good, failurePolicy: '' }], [badPolicy('a', '')]],
  [
    'a path as version',
    [ofVersion('a/b/c')],
    [
      'handler a requestHook APIVersion a/b/c is not valid: unexpected GroupVersion string: a/b/c; write hooks.runtime.cluster.x-k8s.io/v1alpha1',
    ],
  ],
  [
    'a hook in another case',
    [ofHook('beforeClusterCreate')],
    [unknown('a', `${hooksGroup}/v1alpha1/beforeClusterCreate`, 'write BeforeClusterCreate')],
  ],
  [
    'a version without its group',
    [ofVersion('v1alpha1')],
    [unknown('a', 'v1alpha1/BeforeClusterCreate', '"hooks" lists the known hooks')],
  ],
  [
    'a hook that was removed',
    [ofVersion(`${hooksGroup}/v1alpha0`)],
    [unknown('a', `${hooksGroup}/v1alpha0/BeforeClusterCreate`, 'serve the version that replaced it')],
  ],
  [
    'everything at once',
    [{ name: 'A', timeoutSeconds: 99, failurePolicy: 'x', requestHook: {} }],
    [badName('A', label), badTimeout('A', 99), badPolicy('A', 'x'), unknown('A', '/', '"hooks" lists the known hooks')],
  ],
  [
    'equal problems, once',
    [ofVersion('v1'), { ...ofVersion('v1'), name: 'a' }],
    [
      unknown('a', 'v1/BeforeClusterCreate', '"hooks" lists the known hooks'),
      'duplicate name for handler a found; give each handler of the server a unique name, even across hooks',
    ],
  ],
])('%s', (_name, handlers, lines) => {
  expect(read(handlers).problems.map(({ message, remedy }) => `${message}; ${remedy}`)).toEqual(lines);
});

test('a hook that the targeted release lacks invalidates the extension', () => {
  const handlers = [{ ...good, requestHook: { ...requestHook, hook: 'UpdateMachine' } }];
  expect(read(handlers, '1.12').problems).toEqual([]);
  expect(read(handlers, '1.11').problems).toEqual([
    {
      handler: 'a',
      message: `handler a requestHook ${hooksGroup}/v1alpha1/UpdateMachine is not in the Runtime SDK catalog`,
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
  expect(large.problems).toEqual([
    {
      handler: '',
      message: '100000 handlers do not fit into status.handlers',
      remedy: 'offer at most 512, or split the extension in two',
    },
  ]);
  expect(large.handlers).toHaveLength(512);
  expect(read(many.slice(0, 512)).problems).toEqual([]);
});
