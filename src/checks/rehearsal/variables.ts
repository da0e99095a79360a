import { printable, shortList } from '../../base/index.ts';
import { type Blueprint, discoverVariables } from '../../topology/index.ts';
import { ReconcileError, SimulationStopped } from './events.ts';
import type { Player } from './player.ts';

/** Longest text about a rule, in characters. */
const maxText = 400;

/** Maximum number of variables whose rules are named as not evaluated. */
const maxUnevaluated = 20;

type Discovered = ReturnType<typeof discoverVariables> extends Generator<unknown, infer Result> ? Result : never;

async function discover(blueprint: Blueprint, player: Player): Promise<Discovered> {
  const { namespace, name } = blueprint;
  const discovering = discoverVariables(blueprint);
  let step = discovering.next();
  while (step.done !== true) {
    const { handler, request } = step.value;
    const object = { namespace, name, uid: '' };
    const answer = await player.send({ hook: 'DiscoverVariables', request, object, handler });
    step = discovering.next(
      answer.ok
        ? { is: 'answered', variables: answer.response.variables ?? [] }
        : { is: 'failed', error: answer.error },
    );
  }
  return step.value;
}

/**
 * Reconciles a ClusterClass: asks its extensions for variables, and once more after its status has been written.
 *
 * @throws {ReconcileError} that says why no Cluster of the class would be reconciled.
 * @throws {SimulationStopped} for a class that Cluster API refuses.
 */
export async function reconcileClass(blueprint: Blueprint, player: Player): Promise<void> {
  for (const round of [1, 2]) {
    const result = await discover(blueprint, player);
    if (result.is !== 'discovered') {
      throw new (result.is === 'refused' ? SimulationStopped : ReconcileError)(result.why);
    }
    const { unevaluated } = result;
    const [rule] = unevaluated.flatMap(({ unknown, transitions }) => [...unknown, ...transitions]);
    if (rule !== undefined && round === 1) {
      const names = shortList(unevaluated.map(({ variable }) => variable).map(printable), maxUnevaluated);
      const text = `a rehearsal does not evaluate all rules of ${names}: ${rule.slice(0, maxText)}`;
      player.find('warning', text, 'try values that they forbid with kubectl apply --dry-run=server');
    }
  }
}
