import { count } from '../../../base/index.ts';
import { isSame, type Json } from '../../../kubernetes/index.ts';
import { aggregate } from '../../../runtimehooks/client/index.ts';
import { checkDefinitions, type UnevaluatedRules } from '../../../runtimehooks/variables/index.ts';
import { type Blueprint, causeText, define, definitionsIn } from '../../../topology/index.ts';
import type { Effect, Simulation } from '../cluster/effects.ts';

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

/** Maximum number of variables of one list whose rules are reported as not evaluated. */
const maxUnevaluated = 20;

/** What a rehearsal cannot say about the values of variables, each with the first rule concerned. */
function unevaluatedTexts(unevaluated: readonly UnevaluatedRules[]): string[] {
  const texts = unevaluated.map(({ variable, unknown, transitions }) => {
    const rules = [...unknown, ...transitions];
    const others = rules.length === 1 ? '' : ` (the first of ${count(rules.length, 'rule')})`;
    return `variable ${JSON.stringify(variable.slice(0, 100))} has a rule that a rehearsal does not evaluate: ${rules[0]?.slice(0, maxText)}${others}`;
  });
  const more = texts.length - maxUnevaluated;
  return [
    ...texts.slice(0, maxUnevaluated),
    ...(more > 0 ? [`rules of ${count(more, 'more variable')} are not evaluated`] : []),
  ];
}

/** The condition of a class without which its Clusters are not reconciled. */
export const notReady = 'VariablesReady';

/** Number of rounds: the class is reconciled again after its status has been written. */
const rounds = 2;

/**
 * Reconciles a ClusterClass: asks its extensions for variables, twice (core/reconcilers/clusterclass, v1.14).
 *
 * @returns why no Cluster of the class would be reconciled; undefined if they would be.
 */
export function* discoverVariables(blueprint: Blueprint): Simulation<string | undefined> {
  const finding = (severity: 'error' | 'warning', text: string, remedy: string): Effect => ({
    do: 'tell',
    at: 0,
    event: { kind: 'finding', severity, text, remedy },
  });
  function* tellUnevaluated(unevaluated: readonly UnevaluatedRules[]): Simulation {
    for (const text of unevaluatedTexts(unevaluated)) {
      yield finding('warning', text, 'try values that it forbids with kubectl apply --dry-run=server');
    }
  }
  const name = `${blueprint.namespace}/${blueprint.name}`;
  const because = `${notReady} of ClusterClass ${name} is False, and no Cluster of it reconciles: VariableDiscovery failed: `;
  const inline = checked(blueprint.inlineVariables, 'spec.variables');
  if (inline.problems.length > 0) {
    return `Cluster API refuses ClusterClass ${name}: ${firstOf(inline.problems)}`;
  }
  yield* tellUnevaluated(inline.unevaluated);
  const patches = blueprint.patches.filter(({ discoverVariables: handler }) => handler !== undefined);
  const answers = new Map<string, Json>();
  for (let round = 0; round < rounds; round++) {
    const errors: string[] = [];
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
      if (answer === undefined || answer.ok !== true) {
        errors.push(
          `failed to call DiscoverVariables for patch ${patch.name}: ${answer?.ok === false && answer.error}`,
        );
        continue;
      }
      const { variables = [] } = answer.response;
      const before = answers.get(patch.name);
      const isNew = before === undefined || !isSame(before, variables);
      if (isNew && before !== undefined) {
        yield finding(
          'error',
          `DiscoverVariables of patch ${JSON.stringify(patch.name)} does not give the same answer each time`,
          'return the same variables in the same order',
        );
      }
      answers.set(patch.name, variables);
      if (isNew && errors.length === 0) {
        const { problems, unevaluated } = checked(variables, `${patch.name}.variables`);
        errors.push(...problems);
        yield* tellUnevaluated(problems.length === 0 ? unevaluated : []);
      }
      define(blueprint, definitionsIn(variables, patch.name));
    }
    if (errors.length > 0) {
      return because + firstOf(errors);
    }
  }
  const conflicts = [...blueprint.variables].flatMap(([name, [first, ...others]]) => {
    const conflict = others.find(
      ({ schema, isRequired }) => !isSame([schema, isRequired], [first?.schema ?? {}, first?.isRequired ?? false]),
    );
    return conflict === undefined ? [] : [{ name, places: `${first?.from} and ${conflict.from}` }];
  });
  const [conflict] = conflicts.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (conflict === undefined) {
    return undefined;
  }
  const names = conflicts.map(({ name }) => name).join(',');
  return `${because}the following variables have conflicting schemas: ${names} (${conflict.name} differs in ${conflict.places})`;
}
