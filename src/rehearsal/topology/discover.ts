import { isSame, type Json } from '../../kubernetes/index.ts';
import { checkDefinitions } from '../../variables/index.ts';
import type { Blueprint, Effect, Life } from '../cluster/index.ts';
import { causeText, define, definitionsIn } from './variables.ts';

/** Maximum number of problems of definitions that are reported. */
const maxProblems = 5;

/** Why Cluster API refuses definitions, or undefined. */
function refusal(variables: Json | undefined, path: string): string | undefined {
  const { causes, isComplete } = checkDefinitions(variables, path);
  if (causes.length === 0 && !isComplete) {
    return `${path}: the schemas take too much work to check; a rehearsal needs smaller ones`;
  }
  const more = causes.length - maxProblems;
  const texts = causes.slice(0, maxProblems).map(causeText);
  return causes.length === 0 ? undefined : `${texts.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** Number of rounds: the class is reconciled again after its status has been written. */
const rounds = 2;

/**
 * Reconciles a ClusterClass: asks its extensions for variables, twice, as Cluster API does.
 *
 * @returns why no Cluster of the class would be reconciled; undefined if they would be.
 */
export function* discoverVariables(blueprint: Blueprint): Life<string | undefined> {
  const finding = (text: string, remedy: string): Effect => ({
    do: 'tell',
    at: 0,
    event: { kind: 'finding', severity: 'error', text, remedy },
  });
  const name = `${blueprint.namespace}/${blueprint.name}`;
  const notReady = `VariablesReady of ClusterClass ${name} is False, and no Cluster of it reconciles: `;
  const inline = refusal(blueprint.inlineVariables, 'spec.variables');
  if (inline !== undefined) {
    return `Cluster API refuses ClusterClass ${name}: ${inline}`;
  }
  const patches = blueprint.patches.filter(({ discoverVariables: handler }) => handler !== undefined);
  const answers = new Map<string, Json>();
  for (let round = 0; round < rounds; round++) {
    for (const patch of patches) {
      const answer = yield {
        do: 'call',
        at: 0,
        hook: 'DiscoverVariables',
        request: patch.settings === undefined ? {} : { settings: patch.settings },
        object: { namespace: blueprint.namespace, name: blueprint.name, uid: '' },
        handler: patch.discoverVariables ?? '',
        pendingHooks: '',
      };
      if (answer === undefined || answer.ok === 'restart' || !answer.ok) {
        const error = answer === undefined || answer.ok === 'restart' ? 'the controller restarted' : answer.error;
        return `${notReady}failed to discover variables for patch ${JSON.stringify(patch.name)}: ${error}`;
      }
      const { variables = [] } = answer.response;
      const before = answers.get(patch.name);
      const isNew = before === undefined || !isSame(before, variables);
      if (isNew && before !== undefined) {
        yield finding(
          `DiscoverVariables of patch ${JSON.stringify(patch.name)} does not give the same answer each time`,
          'return the same variables in the same order',
        );
      }
      answers.set(patch.name, variables);
      const problem = isNew ? refusal(variables, `${patch.name}.variables`) : undefined;
      if (problem !== undefined) {
        return `${notReady}failed to discover variables for patch ${JSON.stringify(patch.name)}: ${problem}`;
      }
      define(blueprint, definitionsIn(variables, patch.name));
    }
  }
  for (const [name, [first, ...others]] of blueprint.variables) {
    const conflict = others.find(
      ({ schema, isRequired }) => !isSame([schema, isRequired], [first?.schema ?? {}, first?.isRequired ?? false]),
    );
    if (conflict !== undefined) {
      return `${notReady}variable ${JSON.stringify(name)} has different definitions in ${first?.from} and ${conflict.from}`;
    }
  }
  return undefined;
}
