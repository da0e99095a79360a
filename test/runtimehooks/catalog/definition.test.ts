import { describe, expect, test } from 'vitest';
import { formatGroupHook } from '../../../src/runtimehooks/catalog/definition.ts';
import { object, ref, string } from '../../../src/runtimehooks/catalog/schema.ts';
import {
  clusterApiHooks,
  coreVersionIn,
  defineHook,
  formatHook,
  formatRelease,
  type HookOptions,
  hookIn,
  hooks,
  parseRelease,
} from '../../../src/runtimehooks/index.ts';

const release = (text: string) => parseRelease(text)!;
const type = { apiVersion: string(), kind: string() };
const options: HookOptions = {
  group: 'hooks.example.com',
  version: 'v1beta1',
  name: 'BeforeLunch',
  summary: 'Before lunch.',
  purpose: 'Called before lunch.',
  introduced: '1.5',
  request: object('A request.', { required: { dish: string('The dish.') }, optional: { ...type, sauce: string() } }),
  response: object('A response.', { required: { status: string(), retryAfterSeconds: { type: 'integer' } } }),
};

describe('a hook', () => {
  test('is defined with the least that it needs', () => {
    const { request, response, ...hook } = defineHook(options);
    expect(hook).toEqual({
      group: 'hooks.example.com',
      version: 'v1beta1',
      name: 'BeforeLunch',
      summary: 'Before lunch.',
      purpose: 'Called before lunch.',
      tags: [],
      singleton: false,
      isBlocking: false,
      changes: [],
      components: {},
      lifecycle: { group: 'hooks.example.com', version: 'v1beta1', name: 'BeforeLunch', introduced: release('1.5') },
    });
    expect(request).toEqual({
      kind: 'BeforeLunchRequest',
      component: 'hooks.example.com.v1beta1.BeforeLunchRequest',
      schema: options.request,
      fieldsSince: {},
    });
    expect([response.kind, response.component]).toEqual([
      'BeforeLunchResponse',
      'hooks.example.com.v1beta1.BeforeLunchResponse',
    ]);
  });

  test('is defined with everything', () => {
    const replacedBy = { group: 'hooks.example.com', version: 'v1', name: 'BeforeLunch' };
    const { lifecycle, tags, singleton, isBlocking, request, response, changes, components } = defineHook({
      ...options,
      tags: ['Meals'],
      singleton: true,
      deprecated: { release: '1.8', date: '2024-02' },
      removed: '1.10',
      replacedBy,
      blockingSince: '1.6',
      package: 'com.example',
      components: { 'com.example.Dish': string('A dish.') },
      fieldsSince: { request: { sauce: '1.7', dish: '1.5' } },
      changes: [
        { release: '1.9', text: 'it is hot' },
        { release: '1.7', text: 'it is warm' },
        { release: '1.5', text: 'it is there' },
      ],
    });
    expect(lifecycle).toEqual({
      group: 'hooks.example.com',
      version: 'v1beta1',
      name: 'BeforeLunch',
      introduced: release('1.5'),
      deprecated: { release: release('1.8'), date: '2024-02' },
      removed: release('1.10'),
      replacedBy,
      singleton: true,
      blockingSince: release('1.6'),
    });
    expect({ tags, singleton, isBlocking }).toEqual({ tags: ['Meals'], singleton: true, isBlocking: true });
    expect(request.component).toBe('com.example.BeforeLunchRequest');
    expect(request.fieldsSince).toEqual({ sauce: release('1.7') });
    expect(response.fieldsSince).toEqual({ retryAfterSeconds: release('1.6') });
    expect(changes.map(({ text }) => text)).toEqual(['it is warm', 'it is hot']);
    expect(Object.keys(components)).toEqual(['com.example.Dish']);
  });

  test.each<[string, Partial<HookOptions>, string]>([
    ['a group in upper case', { group: 'Hooks' }, ': group "Hooks" is not a DNS name in lower case'],
    ['a group that ends with a dot', { group: 'hooks.' }, ': group "hooks." is not a DNS name in lower case'],
    ['a name in lower case', { name: 'lunch' }, ': name "lunch" is not of the form BeforeClusterCreate'],
    ['a name with a dash', { name: 'Be-fore' }, ': name "Be-fore" is not of the form BeforeClusterCreate'],
    ['an invalid release', { introduced: 'soon' }, ': "soon" is not a release such as 1.12'],
    ['a string as request', { request: string() }, ': the schema of the request is not an object'],
    [
      'a request without kind',
      { request: object('', { optional: { apiVersion: string() } }) },
      ': the schema of the request has no property kind',
    ],
    [
      'an optional status',
      { response: object('', { optional: { status: string() } }) },
      ': the schema of the response does not require status',
    ],
    [
      'a response that cannot block',
      { blockingSince: '1.5', response: object('', { required: { status: string() } }) },
      ': the schema of the response has no property retryAfterSeconds',
    ],
    ['an invalid version', { version: 'one' }, ' is version "one" is not of the form v1, v1beta1 or v1alpha1'],
    ['an early end', { removed: '1.6' }, ' is removed in v1.6 without having been deprecated'],
    ['a missing field', { fieldsSince: { response: { gravy: '1.6' } } }, ': the response has no field gravy'],
  ])('is refused: %s', (_, more, problem) => {
    const { group, version, name } = { ...options, ...more };
    expect(() => defineHook({ ...options, ...more })).toThrow(new Error(`${group}/${version}, Hook=${name}${problem}`));
  });

  test('summary, purpose and release may be left out', () => {
    const { group, version, name, request, response } = options;
    const { summary, purpose, lifecycle } = defineHook({ group, version, name, request, response });
    expect([summary, purpose, lifecycle.introduced]).toEqual([name, name, { major: 1, minor: 2 }]);
  });

  test('is refused: none, and one without a request', () => {
    expect(() => defineHook(undefined as never)).toThrow(/^defineHook: pass { group, version, name, /);
    expect(() => defineHook({ ...options, request: undefined } as never)).toThrow(': the schema of the request is not');
  });

  test('has names for people', () => {
    expect(formatHook(options)).toBe('hooks.example.com/v1beta1, Hook=BeforeLunch');
    expect(formatGroupHook(options)).toBe('BeforeLunch.hooks.example.com');
  });
});

test('a hook in an earlier release has the fields of then', () => {
  const fieldsIn = (text: string) => {
    const { request, response } = hookIn(hooks.AfterControlPlaneUpgrade, release(text));
    return [
      Object.keys(request.schema.properties ?? {}).slice(2),
      response === hooks.AfterControlPlaneUpgrade.response,
    ];
  };
  const type0 = ['apiVersion', 'kind'];
  expect(fieldsIn('1.3')).toEqual([type0, true]);
  expect(fieldsIn('1.4')).toEqual([[...type0, 'settings'], true]);
  expect(fieldsIn('1.11')).toEqual([[...type0, 'settings'], true]);
  const all = [...type0, 'settings', 'controlPlaneUpgrades', 'workersUpgrades'];
  expect(fieldsIn('1.12')).toEqual([all, true]);
  const { response, changes } = hookIn(hooks.AfterClusterUpgrade, release('1.11'));
  expect(response.schema.required).toEqual(['status']);
  expect(changes.map((change) => formatRelease(change.release))).toEqual(['v1.11']);
});

test('what came with a hook did not come later', () => {
  for (const { lifecycle, request, response, changes } of clusterApiHooks) {
    const later = [...Object.values(request.fieldsSince), ...Object.values(response.fieldsSince)];
    for (const since of [...later, ...changes.map((change) => change.release)]) {
      expect(since.minor).toBeGreaterThan(lifecycle.introduced.minor);
    }
  }
});

test('schemas leave out what they do not have', () => {
  expect(object('x', {})).toEqual({ type: 'object', description: 'x', properties: {} });
  expect(string()).toEqual({ type: 'string' });
  expect(ref('a.B')).toEqual({ $ref: '#/components/schemas/a.B' });
  expect(ref('a.B', 'x')).toEqual({ description: 'x', allOf: [{ $ref: '#/components/schemas/a.B' }] });
});

test.each([
  ['BeforeClusterUpgrade', '1.10', 'v1beta1'],
  ['BeforeClusterUpgrade', '1.12', 'v1beta1'],
  ['BeforeClusterUpgrade', '1.13', 'v1beta2'],
  ['GeneratePatches', '1.10', 'v1beta1'],
  ['GeneratePatches', '1.11', 'v1beta2'],
  ['DiscoverVariables', '1.12', 'v1beta1'],
  ['DiscoverVariables', '1.13', 'v1beta2'],
  ['UpdateMachine', '1.12', 'v1beta2'],
] as const)('the objects in messages of %s are, in %s, core %s', (name, since, version) => {
  expect(coreVersionIn(hooks[name], release(since))).toBe(version);
});
