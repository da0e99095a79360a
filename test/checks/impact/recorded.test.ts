import { expect, test } from 'vitest';
import { impactOf, verdictOf, type Watched } from '../../../src/checks/impact/index.ts';
import { isSame, type JsonObject, nameOf, namespacedName, namespaceOf, textAt } from '../../../src/kubernetes/index.ts';
import { isMade, World } from '../../../src/topology/index.ts';
import { answerFrom, type RecordedChange, recordedChanges } from '../../topology/recorded.ts';

const clusterOf = (one: JsonObject) =>
  one.kind === 'Cluster'
    ? nameOf(one)
    : textAt(one, 'spec', 'clusterName') || textAt(one, 'metadata', 'labels', 'cluster.x-k8s.io/cluster-name');

/** Objects as if they were watched, in namespaces that ask for permissions. */
function watchedOf(objects: readonly JsonObject[]): Watched {
  const within = (namespace: string, cluster: string) =>
    objects.filter((one) => namespaceOf(one) === namespace && clusterOf(one) === cluster);
  return {
    worldOf: (some, call) => new World(some, { call }),
    definitions: () => objects.filter(({ kind }) => kind === 'CustomResourceDefinition'),
    ofKind: (group, kind) =>
      objects.filter((one) => one.kind === kind && textAt(one, 'apiVersion').startsWith(`${group}/`)),
    ownedBy: (owner) => within(owner.split('/')[0] ?? '', owner.split('/')[1] ?? ''),
    namespaceLabels: () => ({ 'impact.extensionconfig-webhook/replacement': 'deny' }),
  };
}

const keyOf = (object: JsonObject) => `${object.kind} ${namespacedName(object)}`;
/** In the order of `kubectl apply -f` of a folder with templates first. */
const order = (object: JsonObject) => ['ClusterClass', 'Cluster'].indexOf(textAt(object, 'kind'));

/** What users wrote of what is reviewed. In Clusters without a class they write control planes, which are not. */
function writesOf({ before, after }: RecordedChange): { object: JsonObject; old: JsonObject | undefined }[] {
  const old = new Map(before.map((object) => [keyOf(object), object]));
  return after
    .filter((object) => !isMade(object) && /^Cluster(?:Class)?$|Template$/.test(textAt(object, 'kind')))
    .map((object) => ({ object, old: old.get(keyOf(object)) }))
    .filter((write) => !isSame(write.object.spec, write.old?.spec))
    .toSorted((one, other) => order(one.object) - order(other.object));
}

// In-place updates need the answers of an extension that is registered: reviews.test.ts.
const lives = recordedChanges.filter((change) => !/^I|^F-/.test(change.name) && writesOf(change).length > 0);

test.each(lives.map((change) => [change.name, change] as const))('%s', async (_, change) => {
  let state = change.before;
  const replaced: number[] = [];
  for (const write of writesOf(change)) {
    const { object } = write;
    const watched = watchedOf(state);
    const impact = await impactOf(write, watched, {
      clusterApiVersion: { major: 1, minor: 13 },
      now: new Date('2026-11-24T12:00:00Z'),
      ...(change.exchanges.length > 0 && { call: answerFrom(change) }),
      shouldStop: () => false,
      onBug(error) {
        throw error;
      },
      signal: new AbortController().signal,
    });
    const { deniedIn } = verdictOf(impact, write, watched);
    const sum = impact.losses.reduce((all, { verb, machines }) => all + (verb === 'replaces' ? machines : 0), 0);
    expect(deniedIn).toEqual(impact.losses.some(({ isGuarded }) => isGuarded) ? [namespaceOf(object)] : []);
    replaced.push(sum);
    state = [...state.filter((one) => keyOf(one) !== keyOf(object)), object];
  }
  const expected = Object.values(change.expected).reduce((sum, { machines }) => sum + machines.replaced, 0);
  expect(replaced.reduce((sum, one) => sum + one, 0)).toBe(expected);
});
