import { isSame, textAt } from '../../kubernetes/index.ts';
import type { Blueprint, SimulatedCluster } from '../../topology/index.ts';
import { responseTo } from './ask.ts';
import { ReconcileError, type TemplateChange } from './events.ts';
import type { State } from './state.ts';

/** The decisions of a reconcile before it computes objects. */
type Decided = Parameters<SimulatedCluster['desire']>[1];

/** A template before and after all patches. `place`: the same for the same place in each round. */
type PatchedTemplate = Omit<TemplateChange, 'template'> & { place: string };

const prefix = 'error computing the desired state of the Cluster topology: failed to apply patches: ';

/** The templates whose patches have another effect than was reported before, with the changes that Cluster API ignores. */
function changesOf({ toldTemplates }: State, templates: readonly PatchedTemplate[]): TemplateChange[] {
  return templates.flatMap(({ place, holder, before, after, ignored }) => {
    const reported = toldTemplates.get(place) ?? { object: before, ignored: [] };
    if (isSame(reported.object, after) && isSame([...reported.ignored], [...ignored])) {
      return [];
    }
    toldTemplates.set(place, { object: after, ignored });
    return [
      {
        holder,
        template: `${textAt(before, 'kind')} ${textAt(before, 'metadata', 'name')}`,
        before: reported.object,
        after,
        ignored: ignored.filter((path) => !reported.ignored.includes(path)),
      },
    ];
  });
}

const unstable = 'the same request gets different patches each time';

/** Reports the result of the patches when it differs from that of the last round. */
function compare(state: State, input: string, templates: readonly PatchedTemplate[]): void {
  const last = state.round;
  if (last !== undefined && last.input === input) {
    const changed = templates.filter(({ after }, index) => !isSame(after, last.results[index]));
    if (changed.length > 0) {
      const text = `${unstable}: ${changed.map(({ holder }) => holder).join(', ')}`;
      const remedy =
        'compute patches only from the request, without time, randomness or random order; otherwise Machines roll forever';
      state.findOnce('error', text, remedy, unstable);
    }
  }
  const isFirst = state.toldTemplates.size === 0;
  const changes = changesOf(state, templates);
  // Patches that change from round to round are reported once.
  if (changes.length > 0 && !state.reported.has(unstable)) {
    state.tell({ kind: 'templates', isFirst, changes });
  }
  state.round = { input, results: templates.map(({ after }) => after) };
}

/** How much real time passes before patches are generated once more: more than a second, which timestamps show. */
const repeatAfterMs = 1100;

/** Classes whose patches have been generated again after that time. */
const repeated = new WeakSet<Blueprint>();

/**
 * Computes the desired state in one reconcile, with the answers of the extensions that patch templates and validate the
 * topology. The first time, that happens twice, as when a reconcile follows another without changes, and for the first
 * Cluster of a class once more after a second of real time: the templates must be identical.
 *
 * @throws {ReconcileError} for a failure, and for patches that cannot be applied.
 */
export async function computeDesired(state: State, decided: Decided): Promise<void> {
  const { blueprint } = state.made;
  const isFirst = state.round === undefined;
  await round(state, decided);
  if (!isFirst || blueprint.patches.every(({ definitions }) => definitions.length > 0)) {
    return;
  }
  await round(state, decided);
  if (!repeated.has(blueprint)) {
    repeated.add(blueprint);
    await state.sleep(repeatAfterMs);
    await round(state, decided);
  }
}

async function round(state: State, decided: Decided): Promise<void> {
  const computing = state.made.desire(state.cluster, decided);
  let step = computing.next();
  while (step.done !== true) {
    const { hook, handler, request, where } = step.value;
    step = computing.next(await responseTo(`${prefix}${where}`, state, hook, request, { handler }));
  }
  const result = step.value;
  if (result.is === 'failed') {
    if (result.hint !== undefined) {
      state.findOnce('warning', result.hint.text, result.hint.remedy);
    }
    throw new ReconcileError(`${prefix}${result.why}`);
  }
  for (const { text, remedy } of result.problems) {
    state.findOnce('error', text, remedy);
  }
  compare(state, result.input, result.templates);
}
