import { isSame, type Json } from '../../kubernetes/index.ts';
import type { Blueprint, Effect, Life } from '../cluster/index.ts';
import { define, definitionsIn } from './variables.ts';

/** Variables with these names cannot be used: `builtin` is Cluster API's own, and a dot separates fields. */
const isBadName = (name: string) => name === '' || name === 'builtin' || name.includes('.') || name.length > 256;

/** Number of rounds: the class is reconciled again after its status has been written. */
const rounds = 2;

/**
 * Reconciles a ClusterClass: asks its extensions for variables, twice, as Cluster API does.
 * @returns why no Cluster of the class would be reconciled; undefined if they would be.
 */
export function* discoverVariables(blueprint: Blueprint): Life<string | undefined> {
  const finding = (text: string, remedy: string): Effect => ({
    do: 'tell',
    at: 0,
    event: { kind: 'finding', severity: 'error', text, remedy },
  });
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
        return `VariablesReady of ClusterClass ${blueprint.namespace}/${blueprint.name} is False, and no Cluster of it reconciles: failed to discover variables for patch ${JSON.stringify(patch.name)}: ${error}`;
      }
      const { variables = [] } = answer.response;
      const before = answers.get(patch.name);
      if (before !== undefined && !isSame(before, variables)) {
        yield finding(
          `DiscoverVariables of patch ${JSON.stringify(patch.name)} does not give the same answer each time`,
          'return the same variables in the same order',
        );
      }
      answers.set(patch.name, variables);
      const definitions = definitionsIn(variables, patch.name);
      const names = new Set<string>();
      for (const [name] of definitions) {
        const which = `DiscoverVariables of patch ${JSON.stringify(patch.name)} has a variable with the name ${JSON.stringify(name.slice(0, 100))}`;
        if (isBadName(name)) {
          return `${which}: 1 to 256 characters, no dot, not builtin`;
        }
        if (names.has(name)) {
          return `${which} more than once: Cluster API refuses them all`;
        }
        names.add(name);
      }
      define(blueprint, definitions);
    }
  }
  for (const [name, [first, ...others]] of blueprint.variables) {
    const conflict = others.find(
      ({ schema, isRequired }) => !isSame([schema, isRequired], [first?.schema ?? {}, first?.isRequired ?? false]),
    );
    if (conflict !== undefined) {
      return `VariablesReady of ClusterClass ${blueprint.namespace}/${blueprint.name} is False, and no Cluster of it reconciles: variable ${JSON.stringify(name)} has different definitions in ${first?.from} and ${conflict.from}`;
    }
  }
  return undefined;
}
