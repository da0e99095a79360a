import { expect, test } from 'vitest';
import {
  cut,
  hashOf,
  type Impact,
  impactLines,
  lossesOf,
  verdictOf,
  type Watched,
} from '../../../src/checks/impact/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type GroupPlan, World } from '../../../src/topology/index.ts';

function group(name: string, replaced: number, fields: string[], more: Partial<GroupPlan> = {}): GroupPlan {
  const isControlPlane = name === 'control-plane';
  const object = isControlPlane ? 'KubeadmControlPlane default/cp' : `KubeadmConfigTemplate default/${name}`;
  return {
    group: name,
    kind: isControlPlane ? 'KubeadmControlPlane' : 'MachineDeployment',
    name,
    verdict: replaced > 0 ? 'replaced' : 'unchanged',
    machines: { before: 9, after: 9, replaced, inPlace: 0 },
    causes: fields.map((field) => ({ object, field })),
    ...more,
  };
}

const cluster = (name: string, ...groups: GroupPlan[]) => ({ cluster: `default/${name}`, groups, problems: [] });
const impact = (clusters: Impact['clusters'], unplanned = 0, paused = new Set<string>()): Impact => ({
  clusters,
  total: clusters.length + unplanned,
  unplanned: Array.from({ length: unplanned }, (_, index) => `default/u-${index}`),
  unasked: undefined,
  losses: lossesOf(clusters, paused, true),
  paused,
});
const args = 'spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs';

const linesOf = (judged: Impact) => impactLines(judged, (text) => text);

test.each<[string, Impact, string[]]>([
  ['nothing is replaced', impact([cluster('a', group('md-0', 0, []))]), []],
  [
    'two Clusters, the larger one first',
    impact([cluster('b', group('default-worker', 5, [args])), cluster('a', group('default-worker', 9, [args]))]),
    [
      'replaces 14 Machines in 2 Clusters: md "default-worker" of default/a (9) and default/b (5): spec.joinConfiguration.nodeRegistration.kubeletExtraArgs',
    ],
  ],
  [
    'the most expensive first, a single Machine, several fields',
    impact([
      cluster(
        'a',
        group('control-plane', 1, ['spec.version', 'spec.kubeadmConfigSpec.files']),
        group('md-0', 2, [args]),
      ),
    ]),
    [
      'replaces 2 Machines in 1 Cluster: md "md-0" of default/a (2): spec.joinConfiguration.nodeRegistration.kubeletExtraArgs',
      'replaces 1 Machine in 1 Cluster: control plane of default/a (1): spec.version and 1 more',
    ],
  ],
  [
    'more than three lines',
    impact([
      cluster('a', group('md-0', 9, ['a']), group('md-1', 8, ['b']), group('md-2', 1, ['c'])),
      cluster('b', group('md-3', 3, ['d']), group('md-4', 2, ['e'])),
    ]),
    [
      'replaces 9 Machines in 1 Cluster: md "md-0" of default/a (9): a',
      'replaces 8 Machines in 1 Cluster: md "md-1" of default/a (8): b',
      '…and 1 more Cluster (6 Machines): kubectl extensionconfig plan -f FILE',
    ],
  ],
  [
    'the rest is of the same Cluster',
    impact([cluster('a', ...[4, 3, 2, 1].map((replaced) => group(`md-${replaced}`, replaced, [`a${replaced}`])))]),
    [
      'replaces 4 Machines in 1 Cluster: md "md-4" of default/a (4): a4',
      'replaces 3 Machines in 1 Cluster: md "md-3" of default/a (3): a3',
      '…and 3 more Machines: kubectl extensionconfig plan -f FILE',
    ],
  ],
  [
    'groups for the same field',
    impact([cluster('a', ...['a', 'b', 'c', 'd', 'e'].map((name) => group(name, 2, ['x'])))]),
    ['replaces 10 Machines in 1 Cluster: md "a", "b", "c" and 2 more of default/a (10): x'],
  ],
  [
    'cut off',
    impact([cluster('a', group('md-0', 2, ['a']))], 999),
    [
      'replaces at least 2 Machines in 1 Cluster: md "md-0" of default/a (2): a',
      '999 of 1000 Clusters were not planned in time: kubectl extensionconfig plan -f FILE',
    ],
  ],
  [
    'not known',
    impact([
      cluster('a', group('md-0', 0, [], { verdict: 'unknown', problems: [{ text: 'handler x.y is not called' }] })),
      cluster('b', group('control-plane', 0, [], { verdict: 'unknown', kind: 'TalosControlPlane' })),
    ]),
    ['what happens to Machines of default/a and default/b is not known: handler x.y is not called'],
  ],
  [
    'a control plane that decides for itself',
    impact([cluster('b', group('control-plane', 0, [], { verdict: 'unknown', kind: 'TalosControlPlane' }))]),
    ['what happens to Machines of default/b is not known: the TalosControlPlane decides for itself'],
  ],
  [
    'another release of an extension',
    { ...impact([]), total: 2, unasked: { extension: 'patcher', clusters: ['default/a', 'default/b'] } },
    [
      'what extension patcher does to the Machines of default/a and default/b is not known before it is asked: kubectl extensionconfig plan -f FILE',
    ],
  ],
  [
    'groups that are removed, scaled together with another change, or called unhealthy',
    impact([
      cluster(
        'a',
        group('md-0', 0, [], { verdict: 'deleted', machines: { before: 2, after: 0, replaced: 0, inPlace: 0 } }),
        group('md-1', 0, [], { verdict: 'scaled', machines: { before: 4, after: 1, replaced: 0, inPlace: 0 } }),
        group('md-2', 0, [], {
          healthCheck: [
            {
              object: 'MachineHealthCheck default/md-2',
              field: 'spec.checks.unhealthyNodeConditions',
              after: [
                { type: 'Ready', status: 'True', timeoutSeconds: 0 },
                { type: 'Ready', status: 'Unknown', timeoutSeconds: 300 },
              ],
            },
          ],
        }),
      ),
    ]),
    [
      'remediates 9 Machines in 1 Cluster: md "md-2" of default/a (9): its health check calls Ready=True unhealthy',
      'deletes 3 Machines in 1 Cluster: md "md-1" of default/a (3): scaled to 1',
      'deletes 2 Machines in 1 Cluster: md "md-0" of default/a (2): removed',
    ],
  ],
  [
    'a paused Cluster',
    impact(
      [
        cluster(
          'a',
          group('md-0', 0, [args], {
            held: {
              is: 'paused',
              verdict: 'replaced',
              machines: { before: 2, after: 2, replaced: 2, inPlace: 0 },
            },
          }),
        ),
      ],
      0,
      new Set(['default/a']),
    ),
    [
      'when the pause ends, replaces 2 Machines in 1 Cluster: md "md-0" of default/a (2): spec.joinConfiguration.nodeRegistration.kubeletExtraArgs',
    ],
  ],
  [
    'control characters and the marks of direction',
    impact([cluster('a', group('md-\u001b[2J', 1, ['spec.\u202ea']))]),
    ['replaces 1 Machine in 1 Cluster: md "md-\\u001b[2J" of default/a (1): spec.\\u202ea'],
  ],
])('%s', (_, judged, lines) => {
  expect(linesOf(judged)).toEqual(lines);
});

test('no line is longer than 256 bytes, and the Clusters that do not fit are counted', () => {
  const clusters = Array.from({ length: 500 }, (_, index) =>
    cluster(`${'ä'.repeat(60)}-${index}`, group('md-0', 2, ['spec.x'])),
  );
  const [line = ''] = linesOf(impact(clusters));
  expect(Buffer.byteLength(line)).toBeLessThanOrEqual(256);
  expect(line).toMatch(/^replaces 1000 Machines in 500 Clusters: md "md-0" of .* and 49\d more: spec\.x$/);
  const long = linesOf(impact([cluster('a', group('md-0', 2, [`spec.${'x€'.repeat(400)}`]))]));
  expect(long.map((text) => Buffer.byteLength(text) <= 256 && text.endsWith('…'))).toEqual([true]);
});

test('a text is cut between characters', () => {
  expect(cut('€€€', 9)).toBe('€€€');
  expect(cut('€€€€', 10)).toBe('€€…');
  expect(cut('abcdef', 5)).toBe('ab…');
});

const watched: Watched = {
  worldOf: (objects) => new World(objects),
  definitions: () => [],
  ofKind: () => [],
  ownedBy: () => [],
  namespaceLabels: (name) => (name === 'default' ? { 'impact.extensionconfig-webhook/replacement': 'deny' } : {}),
};
const judged = impact([cluster('a', group('md-0', 2, [args]))]);
const annotated = (value?: string): JsonObject => ({
  metadata: value === undefined ? {} : { annotations: { 'impact.extensionconfig-webhook/allow-replacement': value } },
});

test.each<[string, Impact, JsonObject, JsonObject, string[]]>([
  ['no annotation', judged, annotated(), annotated(), ['default']],
  ['true in this write', judged, annotated(), annotated('true'), []],
  ['true since an earlier write', judged, annotated('true'), annotated('true'), ['default']],
  ['the hash of this plan', judged, annotated(), annotated(hashOf(judged)), []],
  ['the hash of this plan, already', judged, annotated(hashOf(judged)), annotated(hashOf(judged)), []],
  ['the hash of another plan', judged, annotated(), annotated('28151be273dd'), ['default']],
  ['nothing is replaced', impact([cluster('a', group('md-0', 0, []))]), annotated(), annotated(), []],
  [
    'a Cluster of a namespace without the label',
    impact([{ ...cluster('a', group('md-0', 2, [args])), cluster: 'other/a' }]),
    annotated(),
    annotated(),
    [],
  ],
])('permission: %s', (_, plan, old, object, denied) => {
  expect(verdictOf(plan, { object, old }, watched).deniedIn).toEqual(denied);
});

test('the hash of a plan depends on what is replaced and by which values, not on the order', () => {
  const two = impact([cluster('a', group('md-0', 2, [args])), cluster('b', group('md-0', 2, ['a', 'b']))]);
  expect(hashOf(two)).toMatch(/^[0-9a-f]{12}$/);
  expect(hashOf({ ...two, losses: two.losses.toReversed() })).toBe(hashOf(two));
  expect(hashOf(judged)).not.toBe(hashOf(two));
  expect(hashOf(impact([cluster('a', group('md-0', 3, [args]))]))).not.toBe(hashOf(judged));
  const toValue = (after: string) =>
    hashOf(
      impact([
        cluster(
          'a',
          group('md-0', 2, [], { causes: [{ object: 'KubeadmConfigTemplate default/md-0', field: args, after }] }),
        ),
      ]),
    );
  expect(toValue('pool=gpu')).not.toBe(toValue('pool=cpu'));
});
