import {
  copyOf,
  fieldAt,
  isSame,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
} from '../../../kubernetes/index.ts';
import { call, failed, type Reconcile } from '../cluster/ask.ts';
import type { Blueprint, ExternalPatch } from '../cluster/blueprint.ts';
import type { Simulation, TemplateChange } from '../cluster/effects.ts';
import { tell } from '../cluster/state.ts';
import { clusterBuiltin, type Desired, holderText, type Item, itemsOf, variable } from './items.ts';
import { applyPatch, BadPatch, isControlPlaneHolder, isEmptyPatch } from './patch.ts';
import { variablesFor, variablesOf } from './variables.ts';

const prefix = 'error computing the desired state of the Cluster topology: failed to apply patches: ';

interface Round {
  reconcile: Reconcile;
  blueprint: Blueprint;
  items: Item[];
  /** UIDs of the items, new in every round. */
  uids: string[];
  builtin: JsonObject;
  ignored: Set<string>[];
}

/**
 * Maximum number of characters of templates that the patches of one response may process: each patch processes the
 * whole template.
 */
const maxPatchedLength = 64 * 1024 * 1024;

/** Annotations of a template that requests leave out. */
const hiddenAnnotations = ['kubectl.kubernetes.io/last-applied-configuration', 'cluster.x-k8s.io/conversion-data'];

/** A template as in requests. */
export function withoutBookkeeping(template: JsonObject): JsonObject {
  const copy = copyOf(template);
  delete objectAt(copy, 'metadata').managedFields;
  const annotations = objectAt(copy, 'metadata', 'annotations');
  for (const name of hiddenAnnotations) {
    delete annotations[name];
  }
  return copy;
}

function requestOf(round: Round, patch: ExternalPatch, hasUids: boolean): JsonObject {
  const { blueprint, items, uids, builtin, reconcile } = round;
  const own = variablesFor(blueprint, patch.name, variablesOf(reconcile.state.cluster));
  return {
    ...(patch.settings !== undefined && { settings: patch.settings }),
    variables: [...own, variable('builtin', builtin)],
    items: items.map((item, index) => {
      const variables = [
        ...variablesFor(blueprint, patch.name, item.overrides),
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

function* generate(round: Round, patch: ExternalPatch, handler: string): Simulation {
  const { reconcile, items, uids } = round;
  const where = `${prefix}failed to generate patches for patch ${JSON.stringify(patch.name)}: `;
  const answer = yield* call(reconcile, 'GeneratePatches', copyOf(requestOf(round, patch, true)), handler);
  if (!answer.ok) {
    throw failed(answer.error, where);
  }
  let work = 0;
  const indexOf = new Map(uids.map((uid, index) => [uid, index]));
  for (const generated of objectsAt(answer.response, 'items')) {
    const index = indexOf.get(textAt(generated, 'uid'));
    const item = index === undefined ? undefined : items[index];
    if (index === undefined || item === undefined) {
      throw failed(
        `unable to find corresponding request item for patch: uid ${JSON.stringify(textAt(generated, 'uid').slice(0, 100))}`,
        where,
      );
    }
    if (isEmptyPatch(generated)) {
      continue;
    }
    work += JSON.stringify(item.object).length;
    if (work > maxPatchedLength) {
      throw failed(
        `the patches of one answer change more than ${maxPatchedLength / 1024 / 1024} MiB of templates: send one patch for each template`,
        where,
      );
    }
    try {
      const { object, ignored } = applyPatch(item.object, generated, isControlPlaneHolder(item.holder));
      item.object = object;
      for (const path of ignored) {
        round.ignored[index]?.add(path);
      }
    } catch (error) {
      throw error instanceof BadPatch ? failed(`${error.message} (${holderText(item.holder)})`, where) : error;
    }
  }
}

/** Reports the result of the patches when it differs from that of the last round. */
function* compare(round: Round, originals: readonly JsonObject[], input: string): Simulation {
  const { reconcile, items, ignored } = round;
  const { state } = reconcile;
  const result = JSON.stringify(items.map(({ object }) => object));
  const before = state.templates;
  if (before !== undefined && before.input === input && before.result !== result && !state.said.has('flip')) {
    state.said.add('flip');
    const earlier = JSON.parse(before.result) as JsonObject[];
    const changed = items.filter(({ object }, index) => !isSame(object, earlier[index]));
    yield tell(state, {
      kind: 'finding',
      severity: 'error',
      text: `the same request gets different patches each time: ${changed.map(({ holder }) => holderText(holder)).join(', ')}`,
      remedy:
        'compute patches only from the request, without time, randomness or random order; otherwise Machines roll forever',
    });
  }
  const changes: TemplateChange[] = items.flatMap(({ holder, object }, index) => {
    const original = originals[index] ?? {};
    const skipped = [...(ignored[index] ?? [])].sort();
    return isSame(original, object) && skipped.length === 0
      ? []
      : [
          {
            holder: holderText(holder),
            template: `${textAt(original, 'kind')} ${textAt(original, 'metadata', 'name')}`,
            before: original,
            after: object,
            ignored: skipped,
          },
        ];
  });
  const text = JSON.stringify(changes);
  // Patches that change from round to round are reported once.
  if (text !== (before?.changes ?? '[]') && !state.said.has('flip')) {
    yield tell(state, { kind: 'templates', changes });
  }
  state.templates = { input, result, changes: text };
}

/**
 * The topology mutation of one reconcile: GeneratePatches of each external patch in the order of the class, each on the
 * result of the previous ones, then ValidateTopology of the patches that name a validator. The first time, all of it
 * runs twice, as when a reconcile follows another without changes: the templates must be identical. A class has
 * templates only if it has patches.
 *
 * @throws {ReconcileError} for a failure, and for patches that cannot be applied.
 */
export function* applyRound(reconcile: Reconcile, desired: Desired): Simulation {
  const { blueprint } = reconcile.state.subject;
  if (blueprint === undefined || blueprint.patches.length === 0) {
    return;
  }
  const isFirst = reconcile.state.templates === undefined;
  yield* round(reconcile, blueprint, desired);
  if (isFirst) {
    yield* round(reconcile, blueprint, desired);
  }
}

function* round(reconcile: Reconcile, blueprint: Blueprint, desired: Desired): Simulation {
  const { state } = reconcile;
  const items = itemsOf(state, blueprint, desired);
  const originals = items.map(({ object }) => object);
  const current: Round = {
    reconcile,
    blueprint,
    items,
    uids: items.map(() => state.names.uid()),
    builtin: clusterBuiltin(state, desired),
    ignored: items.map(() => new Set()),
  };
  const input = JSON.stringify([
    current.builtin as Json,
    variablesOf(state.cluster),
    items.map((item) => [item.object, item.builtin ?? null, item.overrides as Json]),
  ]);
  for (const patch of blueprint.patches) {
    if (patch.generatePatches === undefined) {
      throw failed(
        `patch ${JSON.stringify(patch.name)} has no generatePatchesExtension`,
        `${prefix}failed to create patch generator: `,
      );
    }
    yield* generate(current, patch, patch.generatePatches);
  }
  const last = blueprint.patches.at(-1);
  for (const patch of blueprint.patches) {
    if (patch.validateTopology === undefined || last === undefined) {
      continue;
    }
    // A pitfall in Cluster API: every validator gets the variables of the last patch of the class.
    const { variables = [], items: validated = [] } = requestOf(current, last, false);
    const request = {
      ...(patch.settings !== undefined && { settings: patch.settings }),
      variables,
      items: validated,
    };
    const answer = yield* call(reconcile, 'ValidateTopology', copyOf(request), patch.validateTopology);
    if (!answer.ok) {
      throw failed(answer.error, `${prefix}validation of patch ${JSON.stringify(patch.name)} failed: `);
    }
  }
  checkSpecs(items, originals);
  yield* compare(current, originals, input);
}

/**
 * Checks that patched templates still have the spec from which the objects of the Cluster are created.
 *
 * @throws {ReconcileError} for a template that has lost it.
 */
function checkSpecs(items: readonly Item[], originals: readonly JsonObject[]): void {
  const path = ['spec', 'template', 'spec'];
  const lost = items.find(
    ({ object }, index) => fieldAt(object, ...path) === undefined && fieldAt(originals[index], ...path) !== undefined,
  );
  if (lost !== undefined) {
    throw failed(
      `missing field "${path.join('.')}" (${holderText(lost.holder)})`,
      `${prefix}failed to apply patches to desired state: `,
    );
  }
}
