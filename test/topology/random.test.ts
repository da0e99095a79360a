import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kubernetes/index.ts';
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

testRows(
  'random changes of Cluster API 1.13 and 1.14 are planned as they went, Machine by Machine',
  rows.filter(([name]) => !Object.hasOwn(notKnown, name)),
  async (file) => {
    const recorded = read(file);
    const [major = 1, minor = 14] = recorded.result.release.slice(1).split('.').map(Number);
    const { clusters } = await plan(new World(recorded.before), new World(layered(recorded.before, recorded.change)), {
      clusterApiVersion: { major, minor },
      now: new Date('2026-11-24T12:00:00Z'),
    });
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

test('there are recordings of both releases', () => {
  expect(files.filter((file) => file.startsWith('1.13-')).length).toBe(9);
  expect(files.length).toBe(91);
});
