import { printable, shortList } from '../../base/index.ts';
import { isSame, type Json } from '../../kubernetes/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';
import { checkDefinitions, type UnevaluatedRules } from '../../runtimehooks/variables/index.ts';
import { type Blueprint, causeText, define, definitionsIn } from '../../topology/index.ts';
import { ReconcileError, SimulationStopped } from './events.ts';
import type { Player } from './player.ts';

const maxProblems = 5;
/** Longest text about a rule, in characters. */
const maxText = 400;

/** Why Cluster API refuses definitions, if it does, and which of their rules are not evaluated here. */
function checked(variables: Json | undefined, path: string): { problems: string[]; unevaluated: UnevaluatedRules[] } {
  const { causes, isComplete, unevaluated } = checkDefinitions(variables, path);
  const problems = causes.map(causeText);
  if (causes.length === 0 && !isComplete) {
    problems.push(`${path}: the schemas take too much work to check; a rehearsal needs smaller ones`);
  }
  return { problems, unevaluated };
}

/** Errors as one text, as Kubernetes joins them; only the first of many. */
function firstOf(errors: readonly string[]): string {
  const more = errors.length - maxProblems;
  return `${aggregate(errors.slice(0, maxProblems))}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Maximum number of variables whose rules are named as not evaluated. */
const maxUnevaluated = 20;

/** Number of rounds: the class is reconciled again after its status has been written. */
const rounds = 2;

/**
 * Reconciles a ClusterClass: asks its extensions for variables, twice (core/reconcilers/clusterclass, v1.14).
 *
 * @throws {ReconcileError} that says why no Cluster of the class would be reconciled.
 * @throws {SimulationStopped} for a class that Cluster API refuses.
 */
export async function discoverVariables(blueprint: Blueprint, player: Player): Promise<void> {
  const tellUnevaluated = (unevaluated: readonly UnevaluatedRules[]): void => {
    const [rule = ''] = unevaluated.flatMap(({ unknown, transitions }) => [...unknown, ...transitions]);
    if (rule !== '') {
      const names = shortList(unevaluated.map(({ variable }) => variable).map(printable), maxUnevaluated);
      const text = `a rehearsal does not evaluate all rules of ${names}: ${rule.slice(0, maxText)}`;
      player.find('warning', text, 'try values that they forbid with kubectl apply --dry-run=server');
    }
  };
  const { namespace } = blueprint;
  const name = `${namespace}/${blueprint.name}`;
  const failed = (why: string) =>
    new ReconcileError(
      `VariablesReady of ClusterClass ${name} is False, and no Cluster of it reconciles: VariableDiscovery failed: ${why}`,
    );
  const inline = checked(blueprint.spec.variables, 'spec.variables');
  if (inline.problems.length > 0) {
    throw new SimulationStopped(`Cluster API refuses ClusterClass ${name}: ${firstOf(inline.problems)}`);
  }
  tellUnevaluated(inline.unevaluated);
  const answers = new Map<string, Json>();
  for (let round = 0; round < rounds; round++) {
    const errors: string[] = [];
    for (const { name: patch, discoverVariables: handler, settings } of blueprint.patches) {
      if (handler === undefined) {
        continue;
      }
      const answer = await player.send({
        hook: 'DiscoverVariables',
        request: settings === undefined ? {} : { settings },
        object: { namespace, name: blueprint.name, uid: '' },
        handler,
      });
      if (!answer.ok) {
        errors.push(`failed to call DiscoverVariables for patch ${patch}: ${answer.error}`);
        continue;
      }
      const { variables = [] } = answer.response;
      const before = answers.get(patch);
      const isNew = before === undefined || !isSame(before, variables);
      if (isNew && before !== undefined) {
        const text = `DiscoverVariables of patch ${JSON.stringify(patch)} does not give the same answer each time`;
        player.find('error', text, 'return the same variables in the same order');
      }
      answers.set(patch, variables);
      if (isNew && errors.length === 0) {
        const { problems, unevaluated } = checked(variables, `${patch}.variables`);
        errors.push(...problems);
        tellUnevaluated(problems.length === 0 ? unevaluated : []);
      }
      define(blueprint, definitionsIn(variables, patch));
    }
    if (errors.length > 0) {
      throw failed(firstOf(errors));
    }
  }
  const conflicts = [...blueprint.variables].flatMap(([name, [first, ...others]]) => {
    const conflict = others.find(
      ({ schema, isRequired }) => !isSame([schema, isRequired], [first?.schema ?? {}, first?.isRequired ?? false]),
    );
    return conflict === undefined ? [] : [{ name, places: `${first?.from} and ${conflict.from}` }];
  });
  const [conflict] = conflicts.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (conflict !== undefined) {
    const names = conflicts.map(({ name }) => name).join(',');
    throw failed(
      `the following variables have conflicting schemas: ${names} (${conflict.name} differs in ${conflict.places})`,
    );
  }
}
