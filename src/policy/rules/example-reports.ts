import { decodeExtensionConfig, hubVersion, versionOf } from '../../extensionconfig/index.ts';
import { type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { createHookCatalog, newestKnownRelease } from '../../runtimehooks/index.ts';
import type { Facts } from '../facts/facts.ts';
import { createManifestFacts } from '../facts/manifest-facts.ts';
import { exampleLifecycles } from './examples/hooks.ts';
import type { Rule, RuleInput, Situation } from './rule.ts';
import { createRuleSet, type RuleFinding, type RuleSetOptions } from './rule-set.ts';

/** The time at which examples without a time are checked: then their certificates are what their names say. */
const defaultTime = new Date('2026-01-01T00:00:00Z');

const options: RuleSetOptions = {
  profile: 'strict',
  enforcement: 'deny',
  maxHandlerTimeoutSeconds: 10,
  hooks: createHookCatalog(exampleLifecycles),
  clusterApi: newestKnownRelease,
};

const ruleSet = createRuleSet(options);

function factsFrom(objects: readonly JsonObject[]): Facts {
  const { facts, add } = createManifestFacts();
  for (const object of objects) {
    add(object);
  }
  return facts;
}

const nameOf = (object: JsonObject) => objectAt(object, 'metadata').name;

/** What all rules report about an example (`bad` or `good`) of one rule, in the example's cluster and at its time. */
export function exampleReports(rule: Rule, object: JsonObject, situation: Situation = rule.example): RuleFinding[] {
  const version = versionOf(object.apiVersion) ?? hubVersion;
  const { subject = 'object', context, old, namesake, checkedAt = defaultTime } = situation;
  const input: RuleInput = {
    ...decodeExtensionConfig(object, version),
    oldObject: old && (() => decodeExtensionConfig(old, version).object),
    writtenAs: version,
    version,
    subject,
    isPruned: false,
    now: checkedAt,
    facts: context && factsFrom(context),
    namesake: nameOf(object) === nameOf(rule.example.bad) ? namesake : undefined,
  };
  return ruleSet.check(input);
}
