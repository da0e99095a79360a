import { printable, shortList } from '../../base/index.ts';
import { isSame, type Json } from '../../kubernetes/index.ts';
import { type Blueprint, discoverVariables } from '../../topology/index.ts';
import { ReconcileError, SimulationStopped } from './events.ts';
import type { Player } from './player.ts';

/** Longest text about a rule, in characters. */
const maxText = 400;

/** Maximum number of variables whose rules are named as not evaluated. */
const maxUnevaluated = 20;

/** Number of rounds: the class is reconciled again after its status has been written. */
const rounds = 2;

/**
 * Reconciles a ClusterClass twice: asks its extensions for variables.
 *
 * @throws {ReconcileError} that says why no Cluster of the class would be reconciled.
 * @throws {SimulationStopped} for a class that Cluster API refuses.
 */
export async function reconcileClass(blueprint: Blueprint, player: Player): Promise<void> {
  const { namespace, name } = blueprint;
  const answers = new Map<string, Json>();
  for (let round = 1; round <= rounds; round++) {
    const discovering = discoverVariables(blueprint);
    let step = discovering.next();
    while (step.done !== true) {
      const { patch, handler, request } = step.value;
      const object = { namespace, name, uid: '' };
      const answer = await player.send({ hook: 'DiscoverVariables', request, object, handler });
      if (!answer.ok) {
        step = discovering.next({ is: 'failed', error: answer.error });
        continue;
      }
      const { variables = [] } = answer.response;
      if (!isSame(answers.get(patch) ?? variables, variables)) {
        const text = `DiscoverVariables of patch ${JSON.stringify(patch)} does not give the same answer each time`;
        player.find('error', text, 'return the same variables in the same order');
      }
      answers.set(patch, variables);
      step = discovering.next({ is: 'answered', variables });
    }
    const result = step.value;
    if (result.is !== 'discovered') {
      throw new (result.is === 'refused' ? SimulationStopped : ReconcileError)(result.why);
    }
    const { unevaluated } = result;
    const [rule = ''] = unevaluated.flatMap(({ unknown, transitions }) => [...unknown, ...transitions]);
    if (rule !== '' && round === 1) {
      const names = shortList(unevaluated.map(({ variable }) => variable).map(printable), maxUnevaluated);
      const text = `a rehearsal does not evaluate all rules of ${names}: ${rule.slice(0, maxText)}`;
      player.find('warning', text, 'try values that they forbid with kubectl apply --dry-run=server');
    }
  }
}
