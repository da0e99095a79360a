import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type JsonObject, nameOf, objectAt } from '../../src/kubernetes/index.ts';
import { layered, plan, World } from '../../src/topology/index.ts';
import { testRows } from '../support/rows.ts';

/** What became of a group of Machines. */
interface Outcome {
  verdict: string;
  before: number;
  after: number;
  replaced: number;
}

/** A random change of a real Cluster API. */
interface Recorded {
  result: { release: string; kind: string; topology?: Record<string, string> };
  before: JsonObject[];
  after: JsonObject[];
  change: JsonObject[];
  /** By Cluster and group. */
  expected: Record<string, Record<string, Outcome>>;
}

const folder = new URL('../support/fixtures/plan-random/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.gz'));
const read = (file: string): Recorded =>
  JSON.parse(gunzipSync(readFileSync(new URL(file, folder))).toString()) as Recorded;

/** Recordings of which the objects do not say enough, with why. */
const notKnown: Readonly<Record<string, string>> = {
  '1.14-crs-1-class_in_other_namespace': 'the templates of the other namespace were not recorded',
  '1.14-crs-2-class_cp_in_other_namespace': 'the templates of the other namespace were not recorded',
  '1.14-ninflight-5-cp_other_template_while_rolling': 'the count depends on the moment',
  '1.14-ninflight-6-cp_back_while_rolling': 'the count depends on the moment',
  '1.14-ssa-1-cp_overrides_removed': 'managedFields were not recorded',
  '1.14-ssa-2-kct_ntp_removed_in_place_+_poke': 'managedFields were not recorded',
  '1.14-ssa-5-cp_metadata_and_deletion_removed': 'managedFields were not recorded',
  '1.14-ssa-6-all_patches_removed': 'managedFields were not recorded',
};

const rows = files.map((file) => [file.replace('.json.gz', ''), file] as const);

/** A group that stays because Cluster API stopped was recorded as unchanged; one that waits because of a pause was, too. */
const expectedOf = ({ expected, result }: Recorded) =>
  Object.fromEntries(
    Object.entries(expected).map(([cluster, groups]) => {
      const isStopped = /^False (?!Paused)/.test(result.topology?.[cluster] ?? '');
      return [
        cluster,
        Object.fromEntries(
          Object.entries(groups).map(([group, outcome]) => [
            group,
            isStopped && outcome.verdict === 'unchanged' ? { ...outcome, verdict: 'stopped' } : outcome,
          ]),
        ),
      ];
    }),
  );

const planOf = (recorded: Recorded) => {
  const [major = 1, minor = 14] = recorded.result.release.slice(1).split('.').map(Number);
  return plan(new World(recorded.before), new World(layered(recorded.before, recorded.change)), {
    clusterApiVersion: { major, minor },
    now: new Date('2026-11-24T12:00:00Z'),
  });
};

testRows(
  'random changes of Cluster API 1.13 and 1.14 are planned as they went, Machine by Machine',
  rows.filter(([name]) => !Object.hasOwn(notKnown, name)),
  async (file) => {
    const recorded = read(file);
    const { clusters } = await planOf(recorded);
    const planned = clusters.map(({ cluster, groups }) => [
      cluster.split('/')[1],
      Object.fromEntries(
        groups.map(({ group, verdict, machines: { before, after, replaced } }) => [
          group,
          { verdict, before, after, replaced },
        ]),
      ),
    ]);
    expect(Object.fromEntries(planned)).toMatchObject(expectedOf(recorded));
  },
);

/** The specs of the MachineHealthChecks that Cluster API made, by name. */
const healthChecksOf = (objects: readonly JsonObject[]): Map<string, string> =>
  new Map(
    objects
      .filter(
        ({ kind, metadata }) =>
          kind === 'MachineHealthCheck' &&
          objectAt(metadata, 'labels')['topology.cluster.x-k8s.io/owned'] !== undefined,
      )
      .map((object) => [nameOf(object), JSON.stringify(object.spec)]),
  );

test('a health check changes where it was recorded to change', async () => {
  let changes = 0;
  for (const [name, file] of rows.filter(([one]) => !Object.hasOwn(notKnown, one))) {
    const recorded = read(file);
    const { clusters } = await planOf(recorded);
    const [before, after] = [healthChecksOf(recorded.before), healthChecksOf(recorded.after)];
    for (const { group, name: object, verdict, healthCheck } of clusters.flatMap(({ groups }) => groups)) {
      if (['created', 'deleted', 'stopped', 'refused'].includes(verdict)) {
        continue;
      }
      const isChanged = before.get(object) !== after.get(object);
      changes += Number(isChanged);
      expect(healthCheck !== undefined, `${name}: ${group}`).toBe(isChanged);
    }
  }
  expect(changes).toBeGreaterThan(0);
});

test.each([
  ['1.14-nbuiltin-7-infra_rotated__name_read_by_bootstrap_patch', 'w2'],
  ['1.14-nbuiltin-8-cp_infra_rotated__name_read_by_cp_patch', 'control-plane'],
])('%s: the name of the rotated template is read, and changes %s again', async (name, group) => {
  const { clusters } = await planOf(read(`${name}.json.gz`));
  const noted = clusters
    .flatMap(({ groups }) => groups)
    .filter(({ manner }) => manner?.some((text) => text.includes('which this rotation changes')));
  expect(noted.map((one) => one.group)).toEqual([group]);
});

test('there are recordings of both releases', () => {
  expect(files.filter((file) => file.startsWith('1.13-')).length).toBe(9);
  expect(files.length).toBe(91);
});
