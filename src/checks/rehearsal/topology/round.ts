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
import {
  type Blueprint,
  type ClassPatch,
  generateInline,
  has,
  InlinePatchError,
  templatesOf,
  variablesFor,
  variablesOf,
} from '../../../topology/index.ts';
import { responseTo } from '../cluster/ask.ts';
import { ReconcileError, type Simulation, type TemplateChange } from '../cluster/effects.ts';
import type { State } from '../cluster/state.ts';
import { clusterBuiltin, type Desired, holderText, type Item, itemsOf, placeOf, variable } from './items.ts';

const prefix = 'error computing the desired state of the Cluster topology: failed to apply patches: ';

interface Round {
  state: State;
  blueprint: Blueprint;
  items: readonly Item[];
  builtin: JsonObject;
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

function requestOf({ blueprint, items, builtin, state }: Round, patch: ClassPatch, hasUids: boolean): JsonObject {
  const own = variablesFor(blueprint, patch, variablesOf(state.cluster));
  return {
    ...(patch.settings !== undefined && { settings: patch.settings }),
    variables: [...own, variable('builtin', builtin)],
    items: items.map((item) => {
      const variables = [
        ...variablesFor(blueprint, patch, item.overrides),
        ...(item.builtin === undefined ? [] : [variable('builtin', item.builtin)]),
      ];
      return {
        ...(hasUids && { uid: item.uid }),
        holderReference: item.holder,
        object: item.object,
        ...(variables.length > 0 && { variables }),
      };
    }),
  };
}

/** The parts of a patched template that later patches get. */
const partsInRequests = [['spec'], ['metadata', 'labels'], ['metadata', 'annotations']];

/** Applies the patches of an answer. */
function* apply({ state, items }: Round, patch: ClassPatch, answer: readonly JsonObject[]): Simulation {
  const where = `${prefix}failed to apply patches for patch ${JSON.stringify(patch.name)}: `;
  const byUid = new Map(items.map((item) => [item.uid, item]));
  const parts = has(state.release, 'templateMetadata') ? partsInRequests : partsInRequests.slice(0, 1);
  let work = 0;
  for (const one of answer) {
    const item = byUid.get(textAt(one, 'uid'));
    if (item === undefined) {
      const uid = JSON.stringify(textAt(one, 'uid').slice(0, 100));
      const text = `patch ${patch.name}: ${uid} is not the uid of an item of the request`;
      yield* state.findOnce('warning', text, 'copy it from the item');
      throw new ReconcileError(`${where}unable to find corresponding request item for patch`);
    }
    if (isEmptyPatch(one)) {
      continue;
    }
    work += JSON.stringify(item.object).length;
    if (work > maxPatchedLength) {
      throw new ReconcileError(
        `${where}the patches of one answer change more than ${maxPatchedLength / 1024 / 1024} MiB of templates: send one patch for each template`,
      );
    }
    try {
      const patched = applyPatch(item.object, one);
      const effective = withTaken(item.object, patched, parts);
      item.ignored.push(...jsonPatchOf(effective, patched).map(({ path }) => path));
      item.object = effective;
    } catch (error) {
      if (!(error instanceof BadPatch)) {
        throw error;
      }
      if (templatesOf(patch).length > 0) {
        // It may build on a value that a Go template computes.
        continue;
      }
      const text = `the patch of ${holderText(item.holder)} cannot be applied`;
      yield* state.findOnce('warning', text, 'compute patches from the template in the request');
      throw new ReconcileError(`${where}${error.message}`);
    }
  }
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

/** The templates whose patches have another effect than was reported before, with the changes that Cluster API ignores. */
function changesOf({ state, items }: Round): TemplateChange[] {
  const { patched, release, toldTemplates } = state;
  const dropsMetadata = !has(release, 'templateMetadata');
  return items.flatMap(({ holder, template, object, sets, ignored: dropped }) => {
    const place = placeOf(holder);
    const after = object === template ? object : copyOf(object);
    const reverted = object === template ? [] : revertIgnored(template, after, { holder, dropsMetadata, sets });
    patched.set(place, after);
    const ignored = [...new Set([...reverted.map((path) => jsonPointer(path)), ...dropped])].sort();
    const reported = toldTemplates.get(place) ?? { object: template, ignored: [] };
    if (isSame(reported.object, after) && isSame([...reported.ignored], ignored)) {
      return [];
    }
    toldTemplates.set(place, { object: after, ignored });
    return [
      {
        holder: holderText(holder),
        template: `${textAt(template, 'kind')} ${textAt(template, 'metadata', 'name')}`,
        before: reported.object,
        after,
        ignored: ignored.filter((path) => !reported.ignored.includes(path)),
      },
    ];
  });
}

/** Reports the result of the patches when it differs from that of the last round. */
function* compare(round: Round, input: string): Simulation {
  const { state, items } = round;
  const last = state.round;
  if (last !== undefined && last.input === input) {
    const changed = items.filter(({ object }, index) => !isSame(object, last.results[index]));
    if (changed.length > 0) {
      const text = `${unstable}: ${changed.map(({ holder }) => holderText(holder)).join(', ')}`;
      const remedy =
        'compute patches only from the request, without time, randomness or random order; otherwise Machines roll forever';
      yield* state.findOnce('error', text, remedy, unstable);
    }
  }
  const isFirst = state.toldTemplates.size === 0;
  const changes = changesOf(round);
  // Patches that change from round to round are reported once.
  if (changes.length > 0 && !state.reported.has(unstable)) {
    yield state.tell({ kind: 'templates', isFirst, changes });
  }
  state.round = { input, results: items.map(({ object }) => object) };
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
  const current: Round = { state, blueprint, items, builtin: clusterBuiltin(state, desired) };
  const input = JSON.stringify([
    current.builtin as Json,
    variablesOf(state.cluster),
    items.map((item) => [item.builtin ?? null, item.overrides as Json]),
  ]);
  for (const patch of blueprint.patches) {
    yield* apply(current, patch, yield* patchesOf(current, patch, requestOf(current, patch, true)));
  }
  const last = blueprint.patches.at(-1) as ClassPatch;
  for (const { name, settings, validateTopology: handler } of blueprint.patches) {
    if (handler !== undefined) {
      // A pitfall in Cluster API: every validator gets the variables of the last patch of the class.
      const request = requestOf(current, { ...last, settings }, false);
      const where = `${prefix}validation of patch ${JSON.stringify(name)} failed: `;
      yield* responseTo(where, state, 'ValidateTopology', request, { handler });
    }
  }
  yield* compare(current, input);
}
