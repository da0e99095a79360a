import { isSame, type Json, objectsAt, textAt } from '../../kubernetes/index.ts';
import {
  type Blueprint,
  clusterBuiltin,
  desiredOf,
  generatedName,
  holderText,
  type Item,
  kindOfTemplate,
  NotKnown,
  type PatchInput,
  PatchingFailed,
  patchTemplates,
  placeOf,
  templateProblems,
  type WorkerPlace,
} from '../../topology/index.ts';
import { responseTo } from './ask.ts';
import { ReconcileError, type TemplateChange } from './events.ts';
import type { State, WorkerGroup } from './state.ts';

/** What the controller has decided on before a round of patches. */
export interface Decided {
  /** The version of the control plane. */
  version: string;
  /** The groups of workers, and the versions that they should have. */
  workers: readonly { worker: WorkerGroup; version: string }[];
  upgradeStep: string | undefined;
}

const prefix = 'error computing the desired state of the Cluster topology: failed to apply patches: ';

/** A group of workers in a round. */
export function placeOfWorker({ worker, version }: Decided['workers'][number]): WorkerPlace {
  const { state, kind, name, topologyName, topology, group } = worker;
  const set = group?.next ?? group?.current;
  const nameOf = (part: 'bootstrap' | 'infrastructure'): string => {
    const known = set?.[part].metadata;
    const kindOf = worker.class?.[part] === undefined ? part : kindOfTemplate(worker.class[part]);
    return textAt(known, 'name') || generatedName(`${state.name}-${topologyName}`, kindOf);
  };
  const templateNames = { bootstrap: nameOf('bootstrap'), infrastructure: nameOf('infrastructure') };
  return { kind, name, topologyName, topology, class: worker.class, version, templateNames };
}

/** The input of a round. */
export function patchInputOf(state: State, blueprint: Blueprint, decided: Decided): PatchInput {
  const { release, cluster, controlPlane } = state;
  const { machines } = blueprint.controlPlane;
  return {
    release,
    cluster,
    blueprint,
    upgradeStep: decided.upgradeStep,
    controlPlane: {
      name: controlPlane.name,
      version: decided.version,
      machineTemplateName: machines === undefined ? '' : generatedName(state.name, kindOfTemplate(machines)),
    },
    workers: decided.workers.map(placeOfWorker),
    newUid: state.newUid,
  };
}

/** The templates whose patches have another effect than was reported before, with the changes that Cluster API ignores. */
function changesOf({ toldTemplates }: State, items: readonly Item[]): TemplateChange[] {
  return items.flatMap(({ holder, template, object: after, ignored: paths }) => {
    const place = placeOf(holder);
    const ignored = [...new Set(paths)].sort();
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
function compare(state: State, items: readonly Item[], input: string): void {
  const last = state.round;
  if (last !== undefined && last.input === input) {
    const changed = items.filter(({ object }, index) => !isSame(object, last.results[index]));
    if (changed.length > 0) {
      const text = `${unstable}: ${changed.map(({ holder }) => holderText(holder)).join(', ')}`;
      const remedy =
        'compute patches only from the request, without time, randomness or random order; otherwise Machines roll forever';
      state.findOnce('error', text, remedy, unstable);
    }
  }
  const isFirst = state.toldTemplates.size === 0;
  const changes = changesOf(state, items);
  // Patches that change from round to round are reported once.
  if (changes.length > 0 && !state.reported.has(unstable)) {
    state.tell({ kind: 'templates', isFirst, changes });
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
 * a second of real time: the templates must be identical.
 *
 * @throws {ReconcileError} for a failure, and for patches that cannot be applied.
 */
export async function applyRound(state: State, decided: Decided): Promise<void> {
  const { blueprint } = state;
  if (blueprint === undefined) {
    return;
  }
  const isFirst = state.round === undefined;
  await round(state, blueprint, decided);
  if (!isFirst || blueprint.patches.every(({ definitions }) => definitions.length > 0)) {
    return;
  }
  await round(state, blueprint, decided);
  if (!blueprint.isRepeated) {
    blueprint.isRepeated = true;
    await state.sleep(repeatAfterMs);
    await round(state, blueprint, decided);
  }
}

async function round(state: State, blueprint: Blueprint, decided: Decided): Promise<void> {
  const patchInput = patchInputOf(state, blueprint, decided);
  const patching = patchTemplates(patchInput);
  try {
    let step = patching.next();
    while (step.done !== true) {
      const { hook, handler, request, where } = step.value;
      step = patching.next(await responseTo(`${prefix}${where}`, state, hook, request, { handler }));
    }
    const { items } = step.value;
    for (const { text, remedy } of templateProblems(step.value, state.schemaOf)) {
      state.findOnce('error', text, remedy);
    }
    state.desired = desiredOf(patchInput, step.value, textAt(state.cluster.spec, 'infrastructureRef', 'name'));
    const input = JSON.stringify([
      clusterBuiltin(patchInput) as Json,
      objectsAt(state.cluster, 'spec', 'topology', 'variables'),
      items.map((item) => [item.builtin ?? null, item.overrides as Json]),
    ]);
    compare(state, items, input);
  } catch (error) {
    if (error instanceof NotKnown) {
      throw new ReconcileError(error.message);
    }
    if (!(error instanceof PatchingFailed)) {
      throw error;
    }
    if (error.hint !== undefined) {
      state.findOnce('warning', error.hint.text, error.hint.remedy);
    }
    throw new ReconcileError(`${prefix}${error.message}`);
  }
}
