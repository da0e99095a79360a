import { expect, test } from 'vitest';
import { plan } from '../../src/exports/plan.ts';
import { groupsOf, recordedChanges } from '../topology/recorded.ts';

test('values in, verdicts out', async () => {
  const change = recordedChanges.find(({ name }) => name === 'upgrade-1.35')!;
  const planned = await plan(change.before, change.after);
  expect(groupsOf(planned)).toEqual(change.expected);
  const none = { created: 0, deleted: 0, inPlace: 0, notApplied: 0, onDelete: 0, unknown: 0 };
  expect(planned.sum).toEqual({ clusters: 1, machines: 8, replaced: 8, ...none });
});

test('an extension that nobody calls is not known', async () => {
  const change = recordedChanges.find(({ name }) => name === 'E3-only-md-0')!;
  const [cluster] = (await plan(change.before, change.after)).clusters;
  expect(cluster?.groups.map(({ verdict }) => verdict)).toEqual(['unknown', 'unknown', 'unknown']);
});
