import {
  copyOf,
  isSame,
  type Json,
  type JsonObject,
  jsonPatchOf,
  jsonPointer,
  objectAt,
  objectsAt,
  textAt,
} from '../../../kubernetes/index.ts';
import { applyPatch, BadPatch, isEmptyPatch, revertIgnored, withTaken } from '../../../runtimehooks/index.ts';
import { responseTo } from '../cluster/ask.ts';
import type { Blueprint, ClassPatch } from '../cluster/blueprint.ts';
import { ReconcileError, type Simulation, type TemplateChange } from '../cluster/effects.ts';
import { has } from '../cluster/releases.ts';
import type { PatchedTemplates, State } from '../cluster/state.ts';
import { generateInline, InlinePatchError, templatesOf } from './inline.ts';
import { clusterBuiltin, type Desired, holderText, type Item, itemsOf, placeOf, variable } from './items.ts';
import { variablesFor, variablesOf } from './variables.ts';

const prefix = 'error computing the desired state of the Cluster topology: failed to apply patches: ';

interface Round {
  state: State;
  blueprint: Blueprint;
  items: Item[];
  /** UIDs of the items, new in every round. */
  uids: string[];
  builtin: JsonObject;
  /** What the patches of the class made of the templates, by the names of the patches: in the last round, and in this. */
  known: ReadonlyMap<string, PatchedTemplates> | undefined;
  patches: Map<string, PatchedTemplates>;
}

/**
 * Maximum number of characters of templates that the patches of one response may process: each patch processes the
 * whole template.
 */
const maxPatchedLength = 64 * 1024 * 1024;

/** Annotations of a template that requests leave out. */
const hiddenAnnotations = ['kubectl.kubernetes.io/last-applied-configuration', 'cluster.x-k8s.io/conversion-data'];

/** An object as in requests. */
export function withoutBookkeeping(object: JsonObject): JsonObject {
  const copy = copyOf(object);
  delete objectAt(copy, 'metadata').managedFields;
  const annotations = objectAt(copy, 'metadata', 'annotations');
  for (const name of hiddenAnnotations) {
    delete annotations[name];
  }
  return copy;
}

function requestOf(round: Round, patch: ClassPatch, hasUids: boolean): JsonObject {
  const { blueprint, items, uids, builtin, state } = round;
  const own = variablesFor(blueprint, patch, variablesOf(state.cluster));
  return {
    ...(patch.settings !== undefined && { settings: patch.settings }),
    variables: [...own, variable('builtin', builtin)],
    items: items.map((item, index) => {
      const variables = [
        ...variablesFor(blueprint, patch, item.overrides),
        ...(item.builtin === undefined ? [] : [variable('builtin', item.builtin)]),
      ];
      return {
        ...(hasUids && { uid: uids[index] ?? '' }),
        holderReference: item.holder,
        object: item.object,
        ...(variables.length > 0 && { variables }),
      };
    }),
  };
}

/** The parts of a patched template that later patches get. */
const partsInRequests = [['spec'], ['metadata', 'labels'], ['metadata', 'annotations']];

/** Applies the patches of an answer, unless it is that of the last round for the same templates. */
function* apply(round: Round, patch: ClassPatch, generated: readonly JsonObject[]): Simulation<PatchedTemplates> {
  const { state, items, uids } = round;
  const where = `${prefix}failed to apply patches for patch ${JSON.stringify(patch.name)}: `;
  const indexOf = new Map(uids.map((uid, index) => [uid, index]));
  const before = items.map(({ object }) => object);
  const answer = generated.flatMap(({ uid, patchType = null, patch: encoded = null }) => [
    indexOf.get(String(uid)) ?? -1,
    patchType,
    encoded,
  ]);
  const known = round.known?.get(patch.name);
  if (
    known !== undefined &&
    isSame(known.answer, answer) &&
    known.before.every((object, index) => object === before[index])
  ) {
    return known;
  }
  const after = [...before];
  const ignored: string[][] = before.map(() => []);
  const parts = has(state.release, 'templateMetadata') ? partsInRequests : partsInRequests.slice(0, 1);
  let work = 0;
  for (const item of generated) {
    const index = indexOf.get(textAt(item, 'uid'));
    const object = index === undefined ? undefined : after[index];
    if (index === undefined || object === undefined) {
      const uid = JSON.stringify(textAt(item, 'uid').slice(0, 100));
      const text = `patch ${patch.name}: ${uid} is not the uid of an item of the request`;
      yield* state.findOnce('warning', text, 'copy it from the item');
      throw new ReconcileError(`${where}unable to find corresponding request item for patch`);
    }
    if (isEmptyPatch(item)) {
      continue;
    }
    work += JSON.stringify(object).length;
    if (work > maxPatchedLength) {
      throw new ReconcileError(
        `${where}the patches of one answer change more than ${maxPatchedLength / 1024 / 1024} MiB of templates: send one patch for each template`,
      );
    }
    try {
      const patched = applyPatch(object, item);
      const effective = withTaken(object, patched, parts);
      ignored[index]?.push(...jsonPatchOf(effective, patched).map(({ path }) => path));
      after[index] = effective;
    } catch (error) {
      if (!(error instanceof BadPatch)) {
        throw error;
      }
      if (templatesOf(patch).length > 0) {
        // It may build on a value that a Go template computes.
        continue;
      }
      const holder = items[index]?.holder ?? {};
      const text = `the patch of ${holderText(holder)} cannot be applied`;
      yield* state.findOnce('warning', text, 'compute patches from the template in the request');
      throw new ReconcileError(`${where}${error.message}`);
    }
  }
  return { before, answer, after, ignored };
}

/** The patches of one patch of the class, in the items of the response to a request. */
function* patchesOf({ state }: Round, patch: ClassPatch, request: JsonObject): Simulation<JsonObject[]> {
  const where = `${prefix}failed to generate patches for patch ${JSON.stringify(patch.name)}: `;
  if (patch.definitions.length > 0) {
    try {
      return generateInline(patch, request);
    } catch (error) {
      throw error instanceof InlinePatchError ? new ReconcileError(`${where}${error.message}`) : error;
    }
  }
  if (patch.generatePatches === undefined) {
    throw new ReconcileError(`${prefix}failed to create patch generator for patch ${JSON.stringify(patch.name)}`);
  }
  const response = yield* responseTo(where, state, 'GeneratePatches', request, { handler: patch.generatePatches });
  return objectsAt(response, 'items');
}

function* generate(round: Round, patch: ClassPatch): Simulation {
  const { items } = round;
  const patched = yield* apply(round, patch, yield* patchesOf(round, patch, requestOf(round, patch, true)));
  round.patches.set(patch.name, patched);
  for (const [index, item] of items.entries()) {
    item.object = patched.after[index] ?? item.object;
  }
}

/** The templates whose patches have another effect than was reported before, with the changes that Cluster API ignores. */
function changesOf({ state, items, patches }: Round, originals: readonly JsonObject[]): TemplateChange[] {
  const { patched, release, toldTemplates } = state;
  const dropsMetadata = !has(release, 'templateMetadata');
  return items.flatMap(({ holder, object, sets }, index) => {
    const original = originals[index] ?? {};
    const place = placeOf(holder);
    const dropped = [...patches.values()].flatMap(({ ignored }) => ignored[index] ?? []);
    const after = object === original ? object : copyOf(object);
    const reverted = object === original ? [] : revertIgnored(original, after, { holder, dropsMetadata, sets });
    patched.set(place, after);
    const ignored = [...new Set([...reverted.map((path) => jsonPointer(path)), ...dropped])].sort();
    const reported = toldTemplates.get(place) ?? { object: original, ignored: [] };
    if (isSame(reported.object, after) && isSame([...reported.ignored], ignored)) {
      return [];
    }
    toldTemplates.set(place, { object: after, ignored });
    return [
      {
        holder: holderText(holder),
        template: `${textAt(original, 'kind')} ${textAt(original, 'metadata', 'name')}`,
        before: reported.object,
        after,
        ignored: ignored.filter((path) => !reported.ignored.includes(path)),
      },
    ];
  });
}

/** Reports the result of the patches when it differs from that of the last round. */
function* compare(round: Round, originals: readonly JsonObject[], input: string): Simulation {
  const { state, items, patches } = round;
  const last = state.round;
  const results = items.map(({ object }) => object);
  if (last !== undefined && last.input === input) {
    const changed = items.filter(({ object }, index) => !isSame(object, last.results[index]));
    if (changed.length > 0) {
      const text = `${unstable}: ${changed.map(({ holder }) => holderText(holder)).join(', ')}`;
      const remedy =
        'compute patches only from the request, without time, randomness or random order; otherwise Machines roll forever';
      yield* state.findOnce('error', text, remedy, unstable);
    }
  }
  const isKnown = last !== undefined && results.every((object, index) => object === last.results[index]);
  const isFirst = state.toldTemplates.size === 0;
  const changes = isKnown ? [] : changesOf(round, originals);
  // Patches that change from round to round are reported once.
  if (changes.length > 0 && !state.reported.has(unstable)) {
    yield state.tell({ kind: 'templates', isFirst, changes });
  }
  state.round = { input, patches, results };
}

const unstable = 'the same request gets different patches each time';

/** How much real time passes before patches are generated once more: more than a second, which timestamps show. */
const repeatAfterMs = 1100;

/**
 * The topology mutation of one reconcile: GeneratePatches of each external patch in the order of the class, each on the
 * result of the previous ones, then ValidateTopology of the patches that name a validator. The first time, all of it
 * runs twice, as when a reconcile follows another without changes, and for the first Cluster of a class once more after
 * a second of real time: the templates must be identical. A class has templates only if it has patches.
 *
 * @throws {ReconcileError} for a failure, and for patches that cannot be applied.
 */
export function* applyRound(state: State, desired: Desired): Simulation {
  const { blueprint } = state.subject;
  if (blueprint === undefined) {
    return;
  }
  if (blueprint.patches.length === 0) {
    for (const { holder, object } of itemsOf(state, blueprint, desired)) {
      state.patched.set(placeOf(holder), object);
    }
    return;
  }
  const isFirst = state.round === undefined;
  yield* round(state, blueprint, desired);
  if (!isFirst || blueprint.patches.every(({ definitions }) => definitions.length > 0)) {
    return;
  }
  yield* round(state, blueprint, desired);
  if (!blueprint.isRepeated) {
    blueprint.isRepeated = true;
    yield { do: 'wait', at: state.now, ms: repeatAfterMs };
    yield* round(state, blueprint, desired);
  }
}

function* round(state: State, blueprint: Blueprint, desired: Desired): Simulation {
  const items = itemsOf(state, blueprint, desired);
  const originals = items.map(({ object }) => object);
  const current: Round = {
    state,
    blueprint,
    items,
    uids: items.map(() => state.names.uid()),
    builtin: clusterBuiltin(state, desired),
    known: state.round?.patches,
    patches: new Map(),
  };
  const input = JSON.stringify([
    current.builtin as Json,
    variablesOf(state.cluster),
    items.map((item) => [item.builtin ?? null, item.overrides as Json]),
  ]);
  for (const patch of blueprint.patches) {
    yield* generate(current, patch);
  }
  const last = blueprint.patches.at(-1);
  for (const { name, settings, validateTopology: handler } of blueprint.patches) {
    if (handler === undefined || last === undefined) {
      continue;
    }
    // A pitfall in Cluster API: every validator gets the variables of the last patch of the class.
    const { settings: _, ...fields } = requestOf(current, last, false);
    const request = { ...(settings !== undefined && { settings }), ...fields };
    const where = `${prefix}validation of patch ${JSON.stringify(name)} failed: `;
    yield* responseTo(where, state, 'ValidateTopology', request, { handler });
  }
  yield* compare(current, originals, input);
}
