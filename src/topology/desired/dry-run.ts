import { isSame, type JsonObject, nameOf, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import type { GroupChange } from '../world/groups.ts';
import { Stopped } from '../world/not-known.ts';
import type { Problem } from '../world/plan.ts';
import type { DryRun } from '../world/world.ts';
import { referringTo } from './group-changes.ts';

/** A template that, with the API server's defaults, has the spec of the one before: Cluster API does not rotate it. */
const unrotated = (was: JsonObject | undefined, template: JsonObject): JsonObject =>
  was !== undefined && isSame(was.spec, template.spec)
    ? { ...template, metadata: { ...objectAt(template, 'metadata'), name: nameOf(was) } }
    : template;

const withVersion = (object: JsonObject, version: string): JsonObject => ({
  ...object,
  spec: { ...objectAt(object, 'spec'), version },
});

/** Objects as an API server would store them. Cluster API stops at a group that it refuses, and reports why. */
export async function dryRunChanges(
  changes: readonly GroupChange[],
  dryRun: DryRun,
  problems: Problem[],
): Promise<void> {
  for (const change of changes) {
    const { before, after, versions, end } = change;
    if (before === undefined || after === undefined || end !== undefined) {
      continue;
    }
    const isControlPlane = change.group === 'control-plane';
    const stored = { ...after };
    for (const part of ['infrastructure', 'bootstrap', 'object'] as const) {
      const [was, wanted] = [before[part], after[part]];
      if (wanted === undefined || isSame(was, wanted)) {
        continue;
      }
      // A control plane is upgraded minor by minor, and its webhook refuses two at once.
      const nextVersion = isControlPlane && part === 'object' && versions.length > 2 ? versions[1] : undefined;
      const sent = nextVersion === undefined ? wanted : withVersion(wanted, nextVersion);
      const answer = await dryRun(sent, was !== undefined && nameOf(was) === nameOf(wanted) ? was : undefined);
      if (answer?.is === 'refused') {
        change.end = new Stopped(`the API server refuses ${objectText(wanted)}: ${answer.error}`);
        problems.push(change.end.problem);
        break;
      }
      stored[part] = answer === undefined ? wanted : unrotated(was, answer.object);
      if (nextVersion !== undefined) {
        stored[part] = withVersion(stored[part], textAt(wanted, 'spec', 'version'));
      }
    }
    change.after = { ...stored, object: referringTo(stored, isControlPlane) };
  }
}
