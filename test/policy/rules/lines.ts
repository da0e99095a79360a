import { decodeExtensionConfig, hubVersion, versionOf } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import type { Facts } from '../../../src/policy/index.ts';
import {
  createRuleSet,
  type Rule,
  type RuleFinding,
  type RuleInput,
  type RuleSetOptions,
  rules,
} from '../../../src/policy/index.ts';
import { now, ruleSetOptions } from '../admission/policy.ts';
import { exampleReports, type Situation } from './example-reports.ts';

/**
 * The rule with an id.
 *
 * @throws {Error} if there is none.
 */
export function ruleOf(id: string): Rule {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) {
    throw new Error(`there is no rule ${id}`);
  }
  return rule;
}

/** A finding as one line: FIELD REASON VALUE: MESSAGE. Long values are shown as their beginning and length. */
export function lineOf({ field, reason, value, message }: RuleFinding): string {
  const text = value === undefined ? '-' : JSON.stringify(value);
  const shown = text.length > 80 ? `${text.slice(0, 40)}… (${text.length})` : text;
  return `${field} ${reason.replace('FieldValue', '')} ${shown}: ${message}`;
}

/** The findings of a rule in an object, as lines; in the situation of its examples, unless one is given. */
export function linesOf(id: string, object: JsonObject, situation?: Situation): string[] {
  return exampleReports(id, object, situation)
    .filter(({ rule }) => rule.id === id)
    .map(lineOf);
}

/** Facts of which only some parts are known. */
export function factsOf(parts: Partial<Facts>): Facts {
  return {
    extensionConfigs: undefined,
    clusterClasses: undefined,
    clusters: undefined,
    namespaces: undefined,
    services: undefined,
    secrets: undefined,
    ...parts,
  };
}

/**
 * The findings of a rule in an object, as lines, with facts that no objects can produce, or with the test's own input
 * or options.
 */
export function linesWith(
  id: string,
  object: JsonObject,
  { options = {}, ...input }: Partial<RuleInput> & { options?: Partial<RuleSetOptions> },
): string[] {
  const version = versionOf(object.apiVersion) ?? hubVersion;
  const ruleSet = createRuleSet(ruleSetOptions(options), [ruleOf(id)]);
  return ruleSet
    .check({
      ...decodeExtensionConfig(object, version),
      writtenAs: version,
      version,
      subject: 'object',
      isPruned: false,
      now,
      ...input,
    })
    .map(lineOf);
}
