import { expect, test } from 'vitest';
import type { RuleSetOptions } from '../../../src/policy/index.ts';
import { createHookCatalog, type Lifecycle, type Release } from '../../../src/runtimehooks/index.ts';
import { example } from './examples.ts';
import { linesWith } from './lines.ts';

const group = 'hooks.example.com';
const release = (minor: number): Release => ({ major: 1, minor });
const lifecycle = (version: string, more: Partial<Lifecycle> = {}): Lifecycle => ({
  group,
  version,
  name: 'Hook',
  introduced: release(4),
  ...more,
});
/** A hook of the catalog, and the release of Cluster API that the object is written for. */
const options = (lifecycle: Lifecycle, minor: number): Partial<RuleSetOptions> => ({
  hooks: createHookCatalog([lifecycle]),
  clusterApi: release(minor),
});
const serving = (version: string, failurePolicy = 'Fail') =>
  example({ handler: { requestHook: { apiVersion: `${group}/${version}`, hook: 'Hook' }, failurePolicy } });

const deprecated = { release: release(6), date: '2024-11' };
const replacedBy = { group, version: 'v1', name: 'Better' };
const field = 'status.handlers[0].requestHook';

const cases: [rule: string, lifecycle: Lifecycle, lines: Record<number, string[]>, failurePolicy?: string][] = [
  [
    'hook-too-new',
    lifecycle('v1'),
    {
      3: [`${field}.hook NotSupported "Hook": was introduced in Cluster API v1.4; v1.3 never calls it`],
      4: [],
    },
  ],
  [
    'hook-version-deprecated',
    lifecycle('v1beta1', { deprecated, replacedBy }),
    {
      5: [],
      6: [
        `${field}.apiVersion Invalid "hooks.example.com/v1beta1": Hook in this version has been deprecated since v1.6 (2024-11), any later release may remove it; serve Better (hooks.example.com/v1) instead`,
      ],
    },
  ],
  [
    'hook-version-deprecated',
    lifecycle('v1', { deprecated }),
    {
      5: [],
      9: [
        `${field}.apiVersion Invalid "hooks.example.com/v1": Hook in this version has been deprecated since v1.6 (2024-11), any later release may remove it`,
      ],
    },
  ],
  [
    'hook-version-deprecated',
    lifecycle('v1alpha1', { deprecated, removed: release(7), replacedBy }),
    {
      6: [
        `${field}.apiVersion Invalid "hooks.example.com/v1alpha1": Hook in this version has been deprecated since v1.6 (2024-11), any later release may remove it; serve Better (hooks.example.com/v1) instead`,
      ],
      7: [],
    },
  ],
  [
    'hook-version-removed',
    lifecycle('v1alpha1', { deprecated, removed: release(7), replacedBy }),
    {
      6: [],
      7: [
        `${field}.apiVersion NotSupported "hooks.example.com/v1alpha1": Hook in this version was removed in Cluster API v1.7 and is never called by v1.7; serve Better (hooks.example.com/v1) instead`,
      ],
    },
  ],
  [
    'hook-version-removed',
    lifecycle('v1alpha1', { deprecated, removed: release(7) }),
    {
      6: [],
      8: [
        `${field}.apiVersion NotSupported "hooks.example.com/v1alpha1": Hook in this version was removed in Cluster API v1.7 and is never called by v1.8; remove the handler instead`,
      ],
    },
  ],
  [
    'failure-policy-blocking',
    lifecycle('v1', { blockingSince: release(6) }),
    {
      5: [],
      6: [
        'status.handlers[0].failurePolicy Invalid "Ignore": Hook is a blocking hook, but with Ignore an error of the handler lets the operation continue; use Fail',
      ],
      7: [
        'status.handlers[0].failurePolicy Invalid "Ignore": Hook is a blocking hook, but with Ignore an error of the handler lets the operation continue; use Fail',
      ],
    },
    'Ignore',
  ],
  ['failure-policy-blocking', lifecycle('v1', { blockingSince: release(6) }), { 6: [] }, 'Fail'],
  ['failure-policy-blocking', lifecycle('v1'), { 6: [] }, 'Ignore'],
];

test.each(
  cases.flatMap(([rule, lifecycle, lines, failurePolicy]) =>
    Object.entries(lines).map(
      ([minor, expected]) => [rule, Number(minor), lifecycle, expected, failurePolicy] as const,
    ),
  ),
)('%s for Cluster API v1.%d: %j', (rule, minor, lifecycle, expected, failurePolicy) => {
  const object = serving(lifecycle.version, failurePolicy);
  expect(linesWith(rule, object, { options: options(lifecycle, minor) })).toEqual(expected);
});

test('each of two handlers of a deprecated version has a finding', () => {
  const requestHook = { apiVersion: `${group}/v1beta1`, hook: 'Hook' };
  const object = example({
    handlers: ['a', 'b'].map((name) => ({ name: `${name}.my-extension`, requestHook })),
  });
  const lines = linesWith('hook-version-deprecated', object, {
    options: options(lifecycle('v1beta1', { deprecated, replacedBy }), 6),
  });
  expect(lines.map((line) => line.slice(0, 40))).toEqual([
    'status.handlers[0].requestHook.apiVersio',
    'status.handlers[1].requestHook.apiVersio',
  ]);
});

const api = 'runtime.cluster.x-k8s.io';
const kind = (version: string, more: Partial<Lifecycle>): Lifecycle => ({
  group: api,
  version,
  name: 'ExtensionConfig',
  introduced: release(2),
  ...more,
});
const ofApi = { deprecated: { release: release(11), date: '2025-08' } };

test.each<[string, string, Lifecycle, number, string[]]>([
  ['before it is deprecated', 'v1alpha1', kind('v1alpha1', ofApi), 10, []],
  [
    'without a successor',
    'v1alpha1',
    kind('v1alpha1', ofApi),
    11,
    [`apiVersion Invalid -: ${api}/v1alpha1 ExtensionConfig is deprecated`],
  ],
  [
    'once it is removed',
    'v1alpha1',
    kind('v1alpha1', { ...ofApi, removed: release(12), replacedBy: { group: 'g', version: 'v2', name: 'Other' } }),
    12,
    [`apiVersion Invalid -: ${api}/v1alpha1 ExtensionConfig is deprecated; use g/v2 Other`],
  ],
  ['which is the storage version', 'v1beta2', kind('v1beta2', ofApi), 12, []],
])('the API version, %s', (_name, version, lifecycle, minor, expected) => {
  const object = example({ apiVersion: `${api}/${version}` });
  expect(linesWith('api-version-deprecated', object, { options: options(lifecycle, minor) })).toEqual(expected);
});
