import { isSame, type JsonObject, nameOf, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import type { GroupChange } from '../world/groups.ts';
import { Stopped } from '../world/not-known.ts';
import type { Problem } from '../world/plan-document.ts';
import type { DryRun } from '../world/world.ts';
import { referringTo } from './group-changes.ts';

const named = (object: JsonObject, name: string): JsonObject => ({
  ...object,
  metadata: { ...objectAt(object, 'metadata'), name },
});

const withVersion = (object: JsonObject, version: string): JsonObject => ({
  ...object,
  spec: { ...objectAt(object, 'spec'), version },
});

/** An API server's answer about a part of a group: what it stores; the same name as before where nothing is rotated. */
async function dryRunPart(
  dryRun: DryRun,
  was: JsonObject | undefined,
  wanted: JsonObject,
  version: string | undefined,
): Promise<JsonObject> {
  const ask = async (object: JsonObject, isTrial: boolean): Promise<JsonObject | undefined> => {
    const answer = await dryRun(object, isTrial);
    if (answer?.is === 'refused') {
      throw new Stopped(`the API server refuses ${objectText(object)}: ${answer.error}`);
    }
    return answer?.object;
  };
  if (was !== undefined && nameOf(was) !== nameOf(wanted)) {
    // Before Cluster API rotates a template, it looks what the change would make of the one that exists.
    const changed = await ask(named(wanted, nameOf(was)), true);
    if (changed !== undefined && isSame(changed.spec, was.spec)) {
      return changed;
    }
  }
  const stored = await ask(version === undefined ? wanted : withVersion(wanted, version), false);
  if (stored === undefined) {
    return wanted;
  }
  const result = version === undefined ? stored : withVersion(stored, textAt(wanted, 'spec', 'version'));
  return was !== undefined && isSame(was.spec, result.spec) ? named(result, nameOf(was)) : result;
}

/**
 * Objects as an API server would store them, written as Cluster API's topology controller does. It stops at a group that the
 * API server refuses, and reports why.
 */
export async function dryRunChanges(
  changes: readonly GroupChange[],
  dryRun: DryRun,
  problems: Problem[],
): Promise<void> {
  for (const change of changes) {
    const { before, after, versions, end } = change;
    if (after === undefined || end !== undefined) {
      continue;
    }
    const isControlPlane = change.group === 'control-plane';
    const stored = { ...after };
    try {
      for (const part of ['infrastructure', 'bootstrap', 'object'] as const) {
        const [was, wanted] = [before?.[part], after[part]];
        if (wanted !== undefined && !isSame(was, wanted)) {
          // A control plane is upgraded minor by minor, and its webhook refuses two at once.
          const version = isControlPlane && part === 'object' && versions.length > 2 ? versions[1] : undefined;
          stored[part] = await dryRunPart(dryRun, was, wanted, version);
        }
      }
    } catch (error) {
      if (!(error instanceof Stopped)) {
        throw error;
      }
      change.end = error;
      problems.push(error.problem);
    }
    change.after = { ...stored, object: referringTo(stored, isControlPlane) };
  }
}
