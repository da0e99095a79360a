import { describe, expect, test } from 'vitest';
import { groupsOf, planOf, recordedChanges } from './recorded.ts';

describe('changes of a real Cluster API', () => {
  test.each(recordedChanges.map((change) => [change.name, change] as const))('%s', async (_, change) => {
    const plan = await planOf(change);
    expect(groupsOf(plan)).toEqual(change.expected);
    const problems = plan.clusters.flatMap((cluster) => cluster.problems.map(({ text }) => text));
    expect(problems).toEqual(change.condition === '' ? [] : [change.condition]);
  });
});
