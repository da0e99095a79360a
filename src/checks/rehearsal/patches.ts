import { isSame, textAt } from '../../kubernetes/index.ts';
import type { SimulatedCluster } from '../../topology/index.ts';
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

/**
 * Computes the desired state in one reconcile, with the answers of the extensions that patch templates and validate the
 * topology, and reports the templates whose patches have another effect than before.
 *
 * @throws {ReconcileError} for a failure, and for patches that cannot be applied.
 */
export async function computeDesired(state: State, decided: Decided): Promise<void> {
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
  const isFirst = state.toldTemplates.size === 0;
  const changes = changesOf(state, result.templates);
  if (changes.length > 0) {
    state.tell({ kind: 'templates', isFirst, changes });
  }
}
