import { describe, expect, test } from 'vitest';
import { plain } from '../../../src/base/index.ts';
import { planMarkdown, planPage, planText } from '../../../src/checks/plan/index.ts';
import type { ClusterPlan, GroupPlan } from '../../../src/topology/index.ts';
import { cluster, controlPlane, files, planOf, workers } from './plans.ts';

const noClasses = new Map<string, string>();
const screen = { paint: plain, width: 100 };
const about = { inputs: '-f clusters', release: 'v1.14', madeAt: new Date('2026-08-01T12:00:00Z') };
const text = (...clusters: Parameters<typeof planOf>) => planText(planOf(...clusters), noClasses, screen);

test('text: a group whose objects are not known has two spaces before its verdict', () => {
  const group: GroupPlan = { ...controlPlane, kind: '', name: '', verdict: 'unknown', causes: [] };
  expect(text(cluster('a/b', group))).toContain('\n  control plane  not known: 3 Machines\n');
});

test('text: a line for each group and cause, the difference below it, and the sum at the end', () => {
  const plan = planOf(cluster('default/f1', controlPlane, workers));
  expect(planText(plan, noClasses, screen)).toBe(`\
default/f1
  control plane  KubeadmControlPlane f1-x7k2p  replaces 3 Machines
      KubeadmControlPlane default/f1-x7k2p: spec.kubeadmConfigSpec.files (patch audit, variable
          auditLevel)
           content: |
        -    level: None
        +    level: Metadata
      Machines f1-x7k2p-a, f1-x7k2p-b, f1-x7k2p-c
  md-0  MachineDeployment f1-md-0-s7hlv  unchanged

3 of 5 Machines are replaced
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
  ['stopped', { before: 1, after: 1, replaced: 0, inPlace: 0 }, 'stays: Cluster API stops'],
  ['unknown', { before: 1, after: 1, replaced: 0, inPlace: 0 }, 'not known: 1 Machine'],
  ['unknown', { before: 0, after: 0, replaced: 0, inPlace: 0 }, 'not known'],
])('text: %s with %j', (verdict, machines, expected) => {
  const lines = text(cluster('a/b', { ...workers, verdict, machines })).split('\n');
  expect(lines[1]).toBe(`  md-0  MachineDeployment f1-md-0-s7hlv  ${expected}`);
});

test('a group that is paused says what happens then, in text, Markdown and HTML', () => {
  const held = {
    is: 'paused',
    verdict: 'replaced',
    machines: { before: 2, after: 2, replaced: 2, inPlace: 0 },
  } as const;
  const plan = cluster('a/b', { ...workers, held });
  expect(text(plan).split('\n')[1]).toMatch(/ {2}paused; then: replaces 2 Machines$/);
  expect(text(plan)).toMatch(/0 of 2 Machines are replaced\n$/);
  const scaled = { before: 1, after: 2, replaced: 0, inPlace: 0 };
  expect(text(cluster('a/b', { ...workers, verdict: 'scaled', machines: scaled, held }))).toContain(
    'scales from 1 to 2 Machines; paused; then: replaces 2 Machines',
  );
  expect(planMarkdown(planOf(plan), noClasses)).toContain('| paused; then: replaces 2 Machines |');
  expect(planPage(planOf(plan), noClasses, about)).toContain('paused; then: replaces 2 Machines</span>');
});

test.each<[NonNullable<ClusterPlan['peak']>, string]>([
  [{ order: [['control-plane', 'md-0', 'md-1']], atOnce: 3, surge: 3 }, '3 groups roll at once: up to 3 Machines more'],
  [{ order: [['md-0', 'md-1']], atOnce: 2, surge: 0 }, '2 groups roll at once: no Machine more'],
  [
    { order: [['control-plane'], ['md-0', 'md-1']], atOnce: 1, surge: 1, versions: ['v1.34.0', 'v1.35.0'] },
    'v1.34.0 → v1.35.0: control plane first, then md-0, md-1, one after the other: up to 1 Machine more',
  ],
  [
    { order: [['control-plane'], ['md-0', 'md-1', 'md-2']], atOnce: 2, surge: 2, versions: ['v1.34.0', 'v1.35.0'] },
    'v1.34.0 → v1.35.0: control plane first, then md-0, md-1, md-2, 2 at a time: up to 2 Machines more',
  ],
])('how groups roll together, in text, Markdown and HTML: %j', (peak, expected) => {
  const plan = { ...cluster('a/b', controlPlane, workers), peak };
  expect(text(plan).split('\n')[1]).toBe(`  ${expected}`);
  expect(planMarkdown(planOf(plan), noClasses)).toContain(`\n\n${expected}\n\n| group |`);
  expect(planPage(planOf(plan), noClasses, about)).toContain(`<p class="note">${expected}</p>`);
});

test('text: what an extension leaves unknown is replaced at least where that is certain', () => {
  const lines = text(cluster('a/b', { ...workers, verdict: 'unknown', atLeast: 1 })).split('\n');
  expect(lines[1]).toMatch(/ {2}not known: replaces at least 1 of 2 Machines$/);
  expect(lines.at(-2)).toMatch(/not known for 2 of 2 Machines$/);
});

test('a health check that changes is shown with its values, in text, Markdown and HTML', () => {
  const field = 'spec.checks.nodeStartupTimeoutSeconds';
  const healthCheck = [{ object: 'MachineHealthCheck a/md', field, before: 600, after: 60 }];
  const plan = cluster('a/b', { ...workers, healthCheck });
  expect(text(plan).split('\n').slice(1, 4)).toEqual([
    '  md-0  MachineDeployment f1-md-0-s7hlv  unchanged',
    `      MachineHealthCheck a/md: ${field}`,
    '          600 → 60',
  ]);
  expect(planMarkdown(planOf(plan), noClasses)).toContain(field);
  expect(planPage(planOf(plan), noClasses, about)).toContain(field);
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
  expect(planPage(planOf(plan), noClasses, about)).toContain('spec.template.spec.failureDomain</code></summary>');
});

test.each([100, 60])('text is %i columns wide, and nothing is cut: it wraps', (width) => {
  const [value, part] = ['0123456789'.repeat(19), 'p'.repeat(30)];
  const field = `spec.${part}.${part}`;
  const group: GroupPlan = {
    ...controlPlane,
    causes: [
      { object: 'KubeadmControlPlane default/f1', field, before: 'x', after: value, from: 'patch a, variable b' },
    ],
    manner: [`one at a time ${'word '.repeat(60)}`],
  };
  const shown = planText(planOf(cluster('default/f1', group)), noClasses, { paint: plain, width });
  const lines = shown.split('\n').filter((line) => !line.includes(field));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  expect(shown.replaceAll(/\n */g, '')).toContain(value);
  expect(shown).toContain(field);
  expect(shown.match(/word/g)).toHaveLength(60);
});

describe('the last line says all that is not 0, the worst first', () => {
  const group = (
    verdict: GroupPlan['verdict'],
    before: number,
    after: number,
    replaced = 0,
    inPlace = 0,
  ): GroupPlan => ({
    ...workers,
    verdict,
    machines: { before, after, replaced, inPlace },
  });
  test.each<[expected: string, ...GroupPlan[]]>([
    ['0 of 5 Machines are replaced', group('unchanged', 5, 5)],
    ['the Cluster has no Machines; 1 group is updated in place', group('inPlace', 0, 0)],
    ['the Cluster has no Machines', group('unchanged', 0, 0)],
    ['1 of 5 Machines is replaced, 2 deleted', group('replaced', 5, 3, 1)],
    ['0 of 5 Machines are replaced, 5 deleted, 3 created', group('deleted', 5, 0), group('created', 0, 3)],
    ['0 of 3 Machines are replaced, 3 updated in place', group('inPlace', 3, 3, 0, 3)],
    ['0 of 3 Machines are replaced, 3 replaced when you delete them', group('onDelete', 3, 3)],
    ['not known for 3 of 3 Machines', group('unknown', 3, 3)],
    ['not known for 1 of 1 Cluster', group('unknown', 0, 0)],
    [
      '0 of 2 Machines are replaced, 2 updated in place; not known for 1 of 1 Cluster',
      group('inPlace', 2, 2, 0, 2),
      group('unknown', 0, 0),
    ],
    ['2 of 5 Machines are replaced; not known for 3', group('replaced', 2, 2, 2), group('unknown', 3, 3)],
    ["1 of 1 Cluster can't be applied", group('refused', 3, 3)],
    [
      "1 of 1 Cluster can't be applied; 2 of 5 Machines are replaced",
      group('replaced', 2, 2, 2),
      group('stopped', 3, 3),
    ],
    ["1 of 1 Cluster can't be applied; not known for 1 of 2 Machines", group('refused', 1, 1), group('unknown', 1, 1)],
  ])('%s', (expected, ...groups) => {
    expect(
      text(cluster('default/f1', ...groups))
        .split('\n')
        .at(-2),
    ).toBe(expected);
  });

  test('of a Cluster that was made up', () => {
    const sample = { ...cluster('default/fleet', group('replaced', 1, 1, 1)), sample: true as const };
    const lines = text(sample).split('\n');
    expect([lines[0], lines.at(-2)]).toEqual([
      'for a Cluster of ClusterClass default/fleet',
      'for a Cluster of this class: 1 of 1 Machine is replaced',
    ]);
  });
});

describe('Markdown', () => {
  test('no character is escaped twice', () => {
    const refused: GroupPlan = { ...controlPlane, verdict: 'refused', causes: [] };
    const problems = [{ text: `<b> & "it's"` }];
    const shown = planMarkdown(planOf({ ...cluster('default/f1', refused), problems }), noClasses);
    expect(shown).toContain("| can't be applied |");
    expect(shown).toContain(`> &#60;b&#62; &#38; "it's"`);
  });

  test('the sum first, a table, causes folded', () => {
    expect(planMarkdown(planOf(cluster('default/f1', controlPlane, workers)), noClasses)).toBe(`\
**3 of 5 Machines are replaced**

### default/f1

| group | object | what happens |
| --- | --- | --- |
| control plane | KubeadmControlPlane f1-x7k2p | replaces 3 Machines |
| md-0 | MachineDeployment f1-md-0-s7hlv | unchanged |

<details><summary>control plane: replaces 3 Machines</summary>

KubeadmControlPlane default/f1-x7k2p: spec.kubeadmConfigSpec.files (patch audit, variable auditLevel)

\`\`\`diff
   content: |
-    level: None
+    level: Metadata
\`\`\`

Machines f1-x7k2p-a, f1-x7k2p-b, f1-x7k2p-c

</details>
`);
  });

  test('nothing from outside is markup, a mention, or ends a table or a block of code', () => {
    const hostile = '@all <img src=x> [a](javascript:b) | `c`';
    const causes = [{ ...files, before: 'a\n', after: '```\n<script>\n' }];
    const shown = planMarkdown(planOf(cluster(hostile, { ...controlPlane, name: hostile, causes })), noClasses);
    expect(shown).not.toMatch(/@all|<img|\]\(/);
    expect(shown.match(/^````/gm)).toHaveLength(2);
    expect(
      shown
        .split('\n')
        .find((line) => line.startsWith('| control'))
        ?.match(/\|/g),
    ).toHaveLength(4);
  });

  test('sections that a comment has no room for are counted', () => {
    const long = { ...controlPlane, manner: ['m'.repeat(900), 'n'.repeat(900)] };
    const clusters = Array.from({ length: 60 }, (_, index) =>
      cluster(`default/c${index}`, { ...long, group: `md-${index}` }),
    );
    const shown = planMarkdown(planOf(...clusters), noClasses);
    expect(shown.length).toBeLessThanOrEqual(60_200);
    expect(shown).toMatch(/\n\d+ more sections: `--output json` has all of them\n$/);
  });
});

test('text: more than 20 Clusters that fare alike are one section, others are not', () => {
  const alike = Array.from({ length: 37 }, (_, index) => cluster(`default/c${index}`, controlPlane));
  const other = cluster('default/other', { ...controlPlane, machines: { ...controlPlane.machines, replaced: 1 } });
  const plan = planOf(...alike, other);
  const classOf = new Map(plan.clusters.map(({ cluster: name }) => [name, 'fleet']));
  const lines = planText(plan, classOf, screen).split('\n');
  expect(lines).toContain('37 Clusters of class fleet');
  expect(lines.filter((line) => line.includes('replaces 3 Machines'))).toHaveLength(1);
  expect(lines).toContain('default/other');
  expect(lines).not.toContain('default/c1');
  expect(lines.at(-2)).toBe('112 of 114 Machines are replaced');
});

test('more than 20 Clusters that are refused alike: the reason is said', () => {
  const groups = [
    { ...controlPlane, verdict: 'refused' as const, causes: [] },
    { ...workers, verdict: 'unchanged' as const },
  ];
  const problems = [{ text: 'variable x: must be y' }];
  const refused = Array.from({ length: 21 }, (_, index) => ({ ...cluster(`default/c${index}`, ...groups), problems }));
  const paused = Array.from({ length: 21 }, (_, index) => ({
    ...cluster(`team/c${index}`, workers),
    problems: [{ text: 'paused' }],
  }));
  const plan = planOf(...refused, ...paused);
  const classOf = new Map(plan.clusters.map(({ cluster: name }) => [name, 'fleet']));
  const shown = planText(plan, classOf, screen);
  expect(shown).toContain('  ! variable x: must be y\n');
  expect(shown).toContain('21 Clusters of class fleet\n');
  expect(shown).toContain('  ! paused\n');
  expect(planPage(plan, classOf, about)).toContain('variable x: must be y');
  expect(planMarkdown(plan, classOf)).toContain('variable x: must be y');
});

test('text: unchanged Clusters of many are named in one line', () => {
  const clusters = Array.from({ length: 12 }, (_, index) => cluster(`default/c${index}`, workers));
  expect(text(cluster('default/f1', controlPlane), ...clusters)).toContain(
    '12 Clusters unchanged: default/c0, default/c1,',
  );
});

test('page: a square for each Machine, and nothing from outside is markup', () => {
  const hostile = '<script>alert(1)</script>';
  const html = planPage(planOf(cluster(hostile, { ...controlPlane, name: hostile }, workers)), noClasses, about);
  expect(html.match(/<i class="m replaced" title/g)).toHaveLength(3);
  expect(html.match(/<i class="m kept" title/g)).toHaveLength(2);
  expect(html).not.toContain('<script>');
  expect(html).toContain("default-src 'none'");
  expect(html).toContain('3 of 5 Machines are replaced');
});

test('page: Clusters that stay as they are, are listed only', () => {
  const html = planPage(
    planOf(cluster('default/f1', controlPlane), cluster('default/calm', workers)),
    noClasses,
    about,
  );
  expect(html).toContain('<summary>1 Cluster unchanged</summary><p>default/calm</p>');
});

test('page: Clusters can be chosen by the worst that happens to them', () => {
  const inPlace = { ...workers, verdict: 'inPlace' as const };
  const unknown = { ...workers, verdict: 'unknown' as const };
  const clusters = [
    cluster('a/replaced', workers, controlPlane),
    cluster('a/unknown', inPlace, unknown),
    cluster('a/in-place', workers, inPlace),
    { ...cluster('a/warned', workers), problems: [{ text: 'waits' }] },
  ];
  const html = planPage(planOf(...clusters), noClasses, about);
  expect(
    [...html.matchAll(/<section class="(\w+)"><h2>([^<]*)/g)].map(([, worst, name]) => `${name}: ${worst}`),
  ).toEqual(['a/replaced: high', 'a/unknown: medium', 'a/in-place: low', 'a/warned: medium']);
  const choices = [...html.matchAll(/<input type="radio" name="only" id="only-(\w+)"/g)].map(([, choice]) => choice);
  expect(choices).toEqual(['all', 'high', 'medium', 'low']);
  for (const choice of choices.slice(1)) {
    expect(html).toContain(`body:has(#only-${choice}:checked) section:not(.${choice})`);
  }
  expect(planPage(planOf(...clusters.slice(1)), noClasses, about)).not.toContain('type="radio"');
});
