import { eachOf, printable, shortList } from '../../base/index.ts';
import { type JsonObject, objectText } from '../../kubernetes/index.ts';
import { inV1beta2, type PlanRequest, prepared, type UserWrite, userWrites, type World } from '../../topology/index.ts';
import type { DryRuns } from './dry-runs.ts';

/** Maximum number of dry runs at a time. */
const writesAtOnce = 10;

/** A change as its user writes it. */
interface UserChange {
  before: World;
  /** What is foreseen. */
  after: readonly JsonObject[];
  /** The manifests that are applied. */
  manifests: readonly JsonObject[];
  /** Whether Clusters are edited as well. */
  isEdited: boolean;
  fieldManager: string | undefined;
}

/**
 * The state after a change, with what an API server says that it would store of it, and what it refuses: schemas, rules and all
 * webhooks answer in their own words. What it cannot be asked about is as it was foreseen, and in `notes`.
 */
export async function askAboutWrites(
  { before, after, ...change }: UserChange,
  dryRuns: DryRuns,
): Promise<{ after: readonly JsonObject[]; answers: NonNullable<PlanRequest['answers']>; notes: string[] }> {
  const stored = new Map<JsonObject, JsonObject>();
  const answers = new Map<JsonObject, { refusal?: { text: string } }>();
  const { writes, unasked } = userWrites(before, after, change);
  await eachOf(writes, writesAtOnce, async (write: UserWrite) => {
    const answer = await dryRuns.send(write, 'Strict');
    if (answer?.is === 'refused') {
      answers.set(write.after, {
        refusal: { text: `the API server refuses ${objectText(write.after)}: ${answer.error}` },
      });
    } else if (answer !== undefined) {
      const object = prepared(answer.object);
      // What is there was read in another version.
      const next = write.readAs === undefined || write.readAs === object.apiVersion ? object : inV1beta2(object);
      stored.set(write.after, next);
      answers.set(next, {});
    }
  });
  const names = shortList(
    unasked.map((object) => printable(objectText(object))),
    5,
  );
  const notes =
    unasked.length === 0
      ? []
      : [
          `no dry run of ${names}: the API server would judge by the class or the definition that it has, not by the one of this change`,
        ];
  return { after: after.map((object) => stored.get(object) ?? object), answers, notes };
}
