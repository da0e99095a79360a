import { decodeExtensionConfig, hubVersion, versionOf } from '../api/index.ts';
import { createHookCatalog, newestKnownRelease } from '../hooks/index.ts';
import type { JsonObject } from '../kubernetes/index.ts';
import { exampleLifecycles } from './example-hooks.ts';
import type { Rule, RuleInput } from './rule.ts';
import { createRuleSet, type Report, type RuleSetOptions } from './rule-set.ts';

/** When the examples are looked at: their certificates are as they say. */
const then = new Date('2026-01-01T00:00:00Z');
/** When the example of an expiring certificate has 17 days left. */
const beforeExpiry = new Date('2020-12-15T00:00:00Z');

const options: RuleSetOptions = {
  profile: 'strict',
  enforcement: 'deny',
  maxHandlerTimeoutSeconds: 10,
  hooks: createHookCatalog(exampleLifecycles),
  clusterApi: newestKnownRelease,
};

const ruleSet = createRuleSet(options);

/**
 * What the rules say of an example (`bad` or `good`) of a rule: with the program's defaults, the examples' invented
 * hooks, and a clock at which the examples hold.
 */
export function exampleReports(rule: Rule, object: JsonObject): Report[] {
  const version = versionOf(object.apiVersion) ?? hubVersion;
  const input: RuleInput = {
    ...decodeExtensionConfig(object, version),
    writtenAs: version,
    version,
    subject: 'object',
    isPruned: false,
    now: rule.id === 'ca-certificate-expiring' ? beforeExpiry : then,
  };
  return ruleSet.check(input);
}
