import { describe, expect, test } from 'vitest';
import { plain } from '../../../src/base/index.ts';
import { planPage, planText, withoutSecretCauses } from '../../../src/checks/plan/index.ts';
import type { GroupPlan } from '../../../src/topology/index.ts';
import { cluster, controlPlane, files, planOf, workers } from './plans.ts';

const noClasses = new Map<string, string>();
const text = (...clusters: Parameters<typeof planOf>) => planText(planOf(...clusters), noClasses, plain);

test('text: a line for each group and cause, the difference below it, and the sum at the end', () => {
  const plan = planOf(cluster('default/f1', controlPlane, workers));
  expect(planText(plan, noClasses, plain)).toBe(`\
default/f1
  control plane  KubeadmControlPlane f1-x7k2p  replaces 3 Machines
      KubeadmControlPlane: spec.kubeadmConfigSpec.files (patch audit, variable auditLevel)
           content: |
        -    level: None
        +    level: Metadata
      Machines f1-x7k2p-a, f1-x7k2p-b, f1-x7k2p-c
  md-0  MachineDeployment f1-md-0-s7hlv  unchanged

1 of 1 Cluster, 3 of 5 Machines are replaced
`);
});

test.each<[verdict: GroupPlan['verdict'], machines: GroupPlan['machines'], expected: string]>([
  ['unchanged', { before: 2, after: 2, replaced: 0, inPlace: 0 }, 'unchanged'],
  ['inPlace', { before: 2, after: 2, replaced: 0, inPlace: 0 }, 'updated in place, no Machine is replaced'],
  ['inPlace', { before: 2, after: 2, replaced: 0, inPlace: 2 }, 'updates 2 Machines in place'],
  ['replaced', { before: 3, after: 3, replaced: 1, inPlace: 2 }, 'replaces 1 of 3 Machines, updates 2 in place'],
  ['replaced', { before: 1, after: 3, replaced: 1, inPlace: 0 }, 'replaces 1 Machine, and scales from 1 to 3'],
  ['onDelete', { before: 2, after: 2, replaced: 0, inPlace: 0 }, 'replaces Machines when you delete them'],
  ['created', { before: 0, after: 2, replaced: 0, inPlace: 0 }, 'created with 2 Machines'],
  ['deleted', { before: 1, after: 0, replaced: 0, inPlace: 0 }, 'deleted with 1 Machine'],
  ['scaled', { before: 1, after: 3, replaced: 0, inPlace: 0 }, 'scales from 1 to 3 Machines'],
  ['refused', { before: 1, after: 1, replaced: 0, inPlace: 0 }, "can't be applied"],
  ['unknown', { before: 1, after: 1, replaced: 0, inPlace: 0 }, 'not known'],
])('text: %s with %j', (verdict, machines, expected) => {
  const lines = text(cluster('a/b', { ...workers, verdict, machines })).split('\n');
  expect(lines[1]).toBe(`  md-0  MachineDeployment f1-md-0-s7hlv  ${expected}`);
});

test('text: OnDelete counts the Machines that wait, if they are known', () => {
  const machines = { before: 2, after: 2, replaced: 0, inPlace: 0 };
  const verdictOf = (...replaces: string[]) =>
    text(cluster('a/b', { ...workers, verdict: 'onDelete', machines, replaces })).split('\n')[1];
  expect(verdictOf('a')).toMatch(/ replaces 1 Machine when you delete it$/);
  expect(verdictOf('a', 'b')).toMatch(/ replaces 2 Machines when you delete them$/);
});

test('Machines that are not up to date already, with the values that they have and should have', () => {
  const machines = { before: 1, after: 1, replaced: 0, inPlace: 0 };
  const causes = [
    { object: 'MachineDeployment a/b', field: 'spec.template.spec.failureDomain', before: 'a', after: 'b' },
  ];
  const problems = [{ text: '1 Machine (b-1) is not up to date already, without this change', causes }];
  const plan = cluster('a/b', { ...workers, verdict: 'unchanged', machines, problems });
  expect(text(plan).split('\n').slice(2, 5)).toEqual([
    '      ! 1 Machine (b-1) is not up to date already, without this change',
    '        MachineDeployment a/b: spec.template.spec.failureDomain',
    '            "a" → "b"',
  ]);
  expect(planPage({ clusters: [plan], sum: { clusters: 1, machines: 1, replaced: 0 } }, new Map())).toContain(
    'spec.template.spec.failureDomain</code></summary>',
  );
});

test('text fits 100 columns, whatever the names', () => {
  const long = 'x'.repeat(90);
  const group: GroupPlan = {
    ...controlPlane,
    name: long,
    causes: [
      {
        object: `KubeadmControlPlane default/${long}`,
        field: `spec.${long}.${long}`,
        before: long,
        after: `${long}${long}`,
      },
    ],
    manner: [`one at a time ${'word '.repeat(60)}`],
  };
  const widths = text(cluster('default/f1', group))
    .split('\n')
    .map((line) => line.length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(100);
});

test('text: more than 20 Clusters that fare alike are one line, others are not', () => {
  const alike = Array.from({ length: 37 }, (_, index) => cluster(`default/c${index}`, controlPlane));
  const other = cluster('default/other', { ...controlPlane, machines: { ...controlPlane.machines, replaced: 1 } });
  const plan = planOf(...alike, other);
  const classOf = new Map(plan.clusters.map(({ cluster: name }) => [name, 'fleet']));
  const lines = planText(plan, classOf, plain).split('\n');
  expect(lines).toContain('37 Clusters of class fleet: control plane replaces 3 Machines each');
  expect(lines).toContain('default/other');
  expect(lines).not.toContain('default/c1');
  expect(lines.at(-2)).toBe('38 of 38 Clusters, 112 of 114 Machines are replaced');
});

test('text: unchanged Clusters of many are named in one line', () => {
  const clusters = Array.from({ length: 12 }, (_, index) => cluster(`default/c${index}`, workers));
  expect(text(cluster('default/f1', controlPlane), ...clusters)).toContain(
    '12 Clusters unchanged: default/c0, default/c1,',
  );
});

describe('values that look like secrets', () => {
  const shownOf = (field: string, value: string) => {
    const group = { ...controlPlane, causes: [{ ...files, field, before: 'x', after: value }] };
    return JSON.stringify(withoutSecretCauses(planOf(cluster('a/b', group))));
  };

  test.each([
    ['spec.users.passwd', '$6$rounds'],
    ['spec.template.spec.token', 'abcdef.0123456789abcdef'],
    ['spec.kubeadmConfigSpec.registryPassword', 'hunter2hunter2'],
    ['spec.files', '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n'],
    ['spec.files', 'password: hunter2hunter2'],
  ])('%s is hidden', (field, value) => {
    expect(shownOf(field, value)).not.toContain(value.slice(0, 20).replace('password: ', '').replaceAll('\n', '\\n'));
  });

  test.each([
    ['spec.template.spec.secretName', 'registry-credentials'],
    ['spec.files', 'level: Metadata'],
    ['spec.tokenTTL', '24h'],
  ])('%s is shown', (field, value) => {
    expect(shownOf(field, value)).toContain(value);
  });

  test('also in lists of variables, by the name of the variable', () => {
    const variables = [{ name: 'adminPassword', value: 'hunter2hunter2' }];
    const group = { ...controlPlane, causes: [{ ...files, before: [], after: variables }] };
    const shown = withoutSecretCauses(planOf(cluster('a/b', group)));
    expect(shown.clusters[0]?.groups[0]?.causes[0]?.after).toEqual([{ name: 'adminPassword', value: '(not shown)' }]);
  });
});

test('page: a square for each Machine, and nothing from outside is markup', () => {
  const hostile = '<script>alert(1)</script>';
  const html = planPage(planOf(cluster(hostile, { ...controlPlane, name: hostile }, workers)), noClasses);
  expect(html.match(/<i class="m replaced" title/g)).toHaveLength(3);
  expect(html.match(/<i class="m kept" title/g)).toHaveLength(2);
  expect(html).not.toContain('<script>');
  expect(html).toContain("default-src 'none'");
  expect(html).toContain('1 of 1 Cluster, 3 of 5 Machines are replaced');
});

test('page: Clusters that stay as they are, are listed only', () => {
  const html = planPage(planOf(cluster('default/f1', controlPlane), cluster('default/calm', workers)), noClasses);
  expect(html).toContain('<summary>1 Cluster unchanged</summary><p>default/calm</p>');
});
