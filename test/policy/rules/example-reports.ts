import { decodeExtensionConfig, hubVersion, versionOf } from '../../../src/extensionconfig/index.ts';
import { applyMergePatch, type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
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
import { ruleCases } from './rule-cases.ts';

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

/** The first invalid object of a rule, fixed, and the situation of all of them. */
export function exampleOf(id: string): Example {
  const { invalid, fix, situation } = ruleCases[id] as (typeof ruleCases)[string];
  const [[bad]] = invalid as readonly [readonly [JsonObject]];
  return { bad, good: applyMergePatch(structuredClone(bad), fix) as JsonObject, ...situation };
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
    oldObject: old && decodeExtensionConfig(old, version).object,
    writtenAs: version,
    version,
    subject,
    isPruned: false,
    now: new Date(checkedAt),
    facts: context && factsFrom(context),
    namesake: nameOf(object) === nameOf(exampleOf(id).bad) ? namesake : undefined,
  };
  return ruleSet.check(input);
}
