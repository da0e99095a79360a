import { isSame, type Json, type JsonObject, perObject } from '../../kubernetes/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';
import { checkDefinitions, type UnevaluatedRules } from '../../runtimehooks/variables/index.ts';
import { type Blueprint, definitionsIn } from '../blueprint/blueprint.ts';
import { NotKnown } from '../world/not-known.ts';
import { causeText, define } from './variables.ts';

/** How it ended: with the variables that the extension defines, or with the error that Cluster API would show. */
export type VariablesAnswer = { is: 'answered'; variables: Json | undefined } | { is: 'failed'; error: string };

const maxErrors = 5;

function firstOf(errors: readonly string[]): string {
  const more = errors.length - maxErrors;
  return `${aggregate(errors.slice(0, maxErrors))}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Why Cluster API refuses definitions, if it does, and which of their rules are not evaluated here. */
function checked(variables: Json | undefined, path: string): { errors: string[]; unevaluated: UnevaluatedRules[] } {
  const { causes, isComplete, unevaluated } = checkDefinitions(variables, path);
  const errors = causes.map(causeText);
  if (causes.length === 0 && !isComplete) {
    throw new NotKnown(`${path}: the schemas take too much work to check`, { remedy: 'make them smaller' });
  }
  return { errors, unevaluated: errors.length === 0 ? unevaluated : [] };
}

/** Of a class: the same for all plans of its Clusters. */
const checkedInline = perObject(({ variables }: JsonObject) => checked(variables, 'spec.variables'));

function conflictIn({ variables }: Blueprint): string | undefined {
  const conflicts = [...variables].flatMap(([name, [first, ...others]]) => {
    const conflict = others.find(
      ({ schema, isRequired }) => !isSame([schema, isRequired], [first?.schema ?? {}, first?.isRequired ?? false]),
    );
    return conflict === undefined ? [] : [{ name, places: `${first?.from} and ${conflict.from}` }];
  });
  const [conflict] = conflicts.sort((a, b) => (a.name < b.name ? -1 : 1));
  return conflict === undefined
    ? undefined
    : `the following variables have conflicting schemas: ${conflicts.map(({ name }) => name).join(',')} (${conflict.name} differs in ${conflict.places})`;
}

/**
 * Reconciles the variables of a class: asks its extensions for their definitions, and adds these to the class
 * (core/reconcilers/clusterclass, v1.14).
 *
 * @throws {NotKnown} for schemas that take too much work to check.
 * @returns the rules that are not evaluated here, or why Cluster API refuses the class, or stops at it.
 */
export async function discoverVariables(
  blueprint: Blueprint,
  ask: (patch: string, handler: string, request: JsonObject) => Promise<VariablesAnswer>,
): Promise<{ is: 'discovered'; unevaluated: UnevaluatedRules[] } | { is: 'refused' | 'stopped'; why: string }> {
  const object = `ClusterClass ${blueprint.namespace}/${blueprint.name}`;
  const inline = checkedInline(blueprint.spec);
  if (inline.errors.length > 0) {
    return { is: 'refused', why: `Cluster API refuses ${object}: ${firstOf(inline.errors)}` };
  }
  const unevaluated = [...inline.unevaluated];
  const errors: string[] = [];
  for (const { name: patch, discoverVariables: handler, settings } of blueprint.patches) {
    if (handler === undefined) {
      continue;
    }
    const answer = await ask(patch, handler, settings === undefined ? {} : { settings });
    if (answer.is === 'failed') {
      errors.push(`failed to call DiscoverVariables for patch ${patch}: ${answer.error}`);
      continue;
    }
    const own = checked(answer.variables, `${patch}.variables`);
    errors.push(...own.errors);
    unevaluated.push(...own.unevaluated);
    define(blueprint, definitionsIn(answer.variables, patch));
  }
  const why = errors.length > 0 ? firstOf(errors) : conflictIn(blueprint);
  return why === undefined
    ? { is: 'discovered', unevaluated }
    : {
        is: 'stopped',
        why: `VariablesReady of ${object} is False, and no Cluster of it reconciles: VariableDiscovery failed: ${why}`,
      };
}
