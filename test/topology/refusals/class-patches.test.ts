import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { clusterClassRefusal } from '../../../src/topology/refusals/index.ts';
import { limitWork } from '../../support/work.ts';
import { manifests, patch, workers } from '../small-class.ts';

/** The names of a selector that select nothing, in a class with the workers `a-1`, `a-2` and `b`. */
function unmatched(names: string[]): (string | undefined)[] {
  const { clusterClass } = manifests();
  const [worker] = (clusterClass.spec.workers as JsonObject).machineDeployments as JsonObject[];
  clusterClass.spec.workers = { machineDeployments: ['a-1', 'b', 'a-2'].map((name) => ({ ...worker, class: name })) };
  const selector = { ...workers, matchResources: { machineDeploymentClass: { names } } };
  clusterClass.spec.patches = [patch('one', 'spec/files', { value: [] }, selector)];
  return (clusterClassRefusal(clusterClass, undefined, [])?.causes ?? []).map(
    ({ field }) => names[Number(/names\[(\d+)]$/.exec(field ?? '')?.[1])],
  );
}

test.each<[string[], string[]]>([
  [['a-1', 'b', 'a-2'], []],
  [['*', 'a-*', 'a*', '*-2', '*b', 'b*', '*a-1'], []],
  [
    ['a', 'b-*', '*-3', 'a-1-*', '*ab', 'c'],
    ['a', 'b-*', '*-3', 'a-1-*', '*ab', 'c'],
  ],
  // What follows a name that is none is not looked at.
  [['**', 'c'], ['**']],
  [['a*1', 'c'], ['a*1']],
])('selectors %j', (names, expected) => {
  expect(unmatched(names)).toEqual(expected);
});

test('many patches, of as many workers, take linear time', () => {
  const { clusterClass } = manifests();
  const count = 10_000;
  const [worker] = (clusterClass.spec.workers as JsonObject).machineDeployments as JsonObject[];
  clusterClass.spec.workers = {
    machineDeployments: Array.from({ length: count }, (_, index) => ({ ...worker, class: `w-${index}` })),
  };
  clusterClass.spec.patches = Array.from({ length: count }, (_, index) => {
    const matchResources = { machineDeploymentClass: { names: [`*-${index}`] } };
    return patch(`p-${index}`, 'spec/files', { value: [] }, { ...workers, matchResources });
  });
  using _work = limitWork(4_000);
  expect(clusterClassRefusal(clusterClass, undefined, [])).toBeUndefined();
});
