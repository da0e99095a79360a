import { isSame, type JsonObject, nameOf, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import type { GroupChange, GroupObjects } from '../world/groups.ts';
import { Stopped } from '../world/not-known.ts';
import type { DryRun } from '../world/world.ts';
import { type GroupChanges, referringTo } from './group-changes.ts';

const named = (object: JsonObject, name: string): JsonObject => ({
  ...object,
  metadata: { ...objectAt(object, 'metadata'), name },
});

const withVersion = (object: JsonObject, version: string): JsonObject => ({
  ...object,
  spec: { ...objectAt(object, 'spec'), version },
});

/** @throws {Stopped} if the API server refuses it. */
async function ask(dryRun: DryRun, object: JsonObject, isTrial: boolean): Promise<JsonObject | undefined> {
  const answer = await dryRun(object, isTrial);
  if (answer?.is === 'refused') {
    throw new Stopped(`the API server refuses ${objectText(object)}: ${answer.error}`);
  }
  return answer?.object;
}

/** What an API server stores of the `intent`; the same name as before where nothing is rotated. */
async function dryRunPart(
  dryRun: DryRun,
  intent: JsonObject,
  was: JsonObject | undefined,
  wanted: JsonObject,
  version: string | undefined,
): Promise<JsonObject> {
  if (was !== undefined && nameOf(was) !== nameOf(wanted)) {
    // Before Cluster API rotates a template, it looks what the change would make of the one that exists.
    const changed = await ask(dryRun, named(intent, nameOf(was)), true);
    if (changed !== undefined && isSame(changed.spec, was.spec)) {
      return changed;
    }
  }
  const sent = named(intent, nameOf(wanted));
  const stored = await ask(dryRun, version === undefined ? sent : withVersion(sent, version), false);
  if (stored === undefined) {
    return wanted;
  }
  const result = version === undefined ? stored : withVersion(stored, textAt(wanted, 'spec', 'version'));
  return was !== undefined && isSame(was.spec, result.spec) ? named(result, nameOf(was)) : result;
}

async function dryRunGroup(change: GroupChange, after: GroupObjects, dryRun: DryRun): Promise<void> {
  const { before, versions, intent = after } = change;
  const isControlPlane = change.group === 'control-plane';
  const stored = { ...after };
  try {
    for (const part of ['infrastructure', 'bootstrap', 'object'] as const) {
      const [was, wanted, applied] = [before?.[part], after[part], intent[part]];
      if (wanted !== undefined && applied !== undefined && !isSame(was, wanted)) {
        // A control plane is upgraded minor by minor, and its webhook refuses two at once.
        const version = isControlPlane && part === 'object' && versions.length > 2 ? versions[1] : undefined;
        const sent = part === 'object' ? referringTo({ ...stored, object: applied }, isControlPlane) : applied;
        stored[part] = await dryRunPart(dryRun, sent, was, wanted, version);
      }
    }
  } finally {
    change.after = { ...stored, object: referringTo(stored, isControlPlane) };
  }
}

/** Has objects written as the topology controller does. A refused infrastructure or control plane ends all that follows. */
export async function dryRunChanges(
  { changes, problems, infrastructure }: GroupChanges,
  dryRun: DryRun,
): Promise<void> {
  let stop: Stopped | undefined;
  const attempt = async (write: () => Promise<unknown>): Promise<Stopped | undefined> => {
    try {
      await write();
      return undefined;
    } catch (error) {
      if (!(error instanceof Stopped)) {
        throw error;
      }
      problems.push(error.problem);
      return error;
    }
  };
  if (infrastructure !== undefined) {
    stop = await attempt(() => ask(dryRun, infrastructure, false));
  }
  for (const change of changes) {
    const { after } = change;
    if (change.end === undefined && stop !== undefined) {
      change.end = stop;
    } else if (change.end === undefined && after !== undefined) {
      change.end = await attempt(() => dryRunGroup(change, after, dryRun));
      stop = change.group === 'control-plane' ? change.end : stop;
    }
  }
}
