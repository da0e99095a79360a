import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { decodeExtensionConfig, hubVersion, versionOf } from '../../../src/extensionconfig/index.ts';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import {
  createManifestFacts,
  createRuleSet,
  type Facts,
  type RuleFinding,
  type RuleInput,
  type RuleSetOptions,
} from '../../../src/policy/index.ts';
import { createHookCatalog, newestKnownRelease } from '../../../src/runtimehooks/index.ts';
import { exampleLifecycles } from './examples/hooks.ts';

/** What a rule's finding depends on besides the object. */
export interface Situation {
  /** What is checked; default: the object. */
  subject?: RuleInput['subject'];
  /** The other objects of the cluster, for rules that look at them. */
  context?: readonly JsonObject[];
  /** Where another object with the name of the bad example is. */
  namesake?: string;
  /** The object before the update, for rules that compare. */
  old?: JsonObject;
  /** When the manifests are checked, for rules that look at the clock; 1 January 2026 if absent. */
  checkedAt?: string;
}

interface Example extends Situation {
  /** A manifest with a finding of the rule. */
  bad: JsonObject;
  /** The same manifest, fixed. */
  good: JsonObject;
}

const text = readFileSync(new URL('examples.yaml', import.meta.url), 'utf8');
/** The examples of all rules, by id. */
export const ruleExamples = parse(text) as Record<string, Example>;

/**
 * The example of a rule.
 *
 * @throws {Error} if it has none.
 */
export function exampleOf(id: string): Example {
  const example = ruleExamples[id];
  if (example === undefined) {
    throw new Error(`add an example of rule ${id} to test/policy/rules/examples.yaml`);
  }
  return example;
}

/** The time at which examples without a time are checked: then their certificates are what their names say. */
const defaultTime = '2026-01-01T00:00:00Z';

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
export function exampleReports(id: string, object: JsonObject, situation: Situation = exampleOf(id)): RuleFinding[] {
  const version = versionOf(object.apiVersion) ?? hubVersion;
  const { subject = 'object', context, old, namesake, checkedAt = defaultTime } = situation;
  const input: RuleInput = {
    ...decodeExtensionConfig(object, version),
    oldObject: old && (() => decodeExtensionConfig(old, version).object),
    writtenAs: version,
    version,
    subject,
    isPruned: false,
    now: () => new Date(checkedAt),
    facts: context && factsFrom(context),
    namesake: nameOf(object) === nameOf(exampleOf(id).bad) ? namesake : undefined,
  };
  return ruleSet.check(input);
}
