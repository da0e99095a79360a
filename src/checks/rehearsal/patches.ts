import type { SimulatedCluster } from '../../topology/index.ts';
import { responseTo } from './ask.ts';
import { ReconcileError } from './events.ts';
import type { State } from './state.ts';

const prefix = 'error computing the desired state of the Cluster topology: failed to apply patches: ';

/**
 * Computes the desired state in one reconcile, with the answers of the extensions that patch templates and validate the
 * topology.
 *
 * @throws {ReconcileError} for a failure, and for patches that cannot be applied.
 */
export async function computeDesired(state: State, decided: Parameters<SimulatedCluster['desire']>[1]): Promise<void> {
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
}
