import './node-version.ts';
import { UsageError } from '../base/index.ts';
import { reportsOf } from '../checks/lint/index.ts';
import { apiVersionOf, kind, versionOf, versions } from '../extensionconfig/index.ts';
import { isJsonObject } from '../kubernetes/index.ts';
import { createRuleSet, readLevels, rules, warningText } from '../policy/index.ts';
import { newestKnownRelease, parseRelease, unknownReleaseProblem } from '../runtimehooks/index.ts';

/** How to check objects. All options are optional. */
export interface CheckOptions {
  /** `strict` (default): all rules; `upstream`: exactly what Cluster API itself rejects. */
  profile?: 'strict' | 'upstream' | undefined;
  /** Severities of individual rules, by id. Rules of the profile `upstream` cannot be turned off. */
  levels?: Readonly<Record<string, 'off' | 'warn' | 'deny'>> | undefined;
  /** The Cluster API release that the objects are intended for, as `v1.12`. Default: the newest known. */
  clusterApiVersion?: string | undefined;
  /** Longest timeout that a handler may have, in seconds. Default: 10. */
  maxHandlerTimeoutSeconds?: number | undefined;
  /** The current time: certificates expire. Default: now. */
  now?: Date | undefined;
}

/** One finding of a rule. */
export interface Problem {
  /** Id of the rule. */
  rule: string;
  /** Whether the webhook would deny the object because of it, or only warn. */
  severity: 'deny' | 'warn';
  /** The field in Kubernetes' format, e.g. `spec.clientConfig.url`. */
  field: string;
  /** One line with field, value and remedy; secrets are never part of it. */
  message: string;
}

export interface RuleDescription {
  id: string;
  /** What is checked, in one sentence. */
  summary: string;
  severity: 'deny' | 'warn';
  /** Whether Cluster API's own webhook also has the rule. */
  upstream: boolean;
}

/** Every rule, in the order of docs/rules.md. */
export const ruleDescriptions: readonly RuleDescription[] = rules.map(
  ({ id, summary, severity, upstream = false }) => ({ id, summary, severity, upstream }),
);

/** @throws {RangeError} for levels that a file of rule levels must not have either. */
function levelsOf(levels: CheckOptions['levels']) {
  try {
    return readLevels(levels);
  } catch (error) {
    throw error instanceof UsageError ? new RangeError(error.message) : error;
  }
}

/**
 * Checks an ExtensionConfig (as parsed from YAML or JSON), which is not modified, as the webhook would on creation, after
 * setting defaults. Returns the findings in the order of the fields: at most 100, of 64 Ki characters together, and one that
 * counts what was left out.
 *
 * @throws {TypeError} when the object is not an ExtensionConfig of a known version.
 * @throws {RangeError} when an option has an invalid value.
 */
export function checkExtensionConfig(object: unknown, options: CheckOptions = {}): Problem[] {
  const version = isJsonObject(object) ? versionOf(object.apiVersion) : undefined;
  if (!isJsonObject(object) || version === undefined || object.kind !== kind) {
    throw new TypeError(`not an ${kind} of apiVersion ${versions.map(apiVersionOf).join(' or ')}`);
  }
  const {
    clusterApiVersion: target,
    maxHandlerTimeoutSeconds: seconds,
    profile = 'strict',
    now = new Date(),
  } = options;
  const clusterApi = target === undefined ? newestKnownRelease : parseRelease(target);
  const noRelease = clusterApi ? unknownReleaseProblem(clusterApi) : 'it must be a release of the form v1.12';
  const isTimeout = seconds === undefined || (Number.isInteger(seconds) && seconds > 0);
  const problems = [
    ...(noRelease === undefined ? [] : [`clusterApiVersion: ${JSON.stringify(target)}: ${noRelease}`]),
    ...(isTimeout ? [] : [`maxHandlerTimeoutSeconds: ${seconds} is not a whole number above 0`]),
    ...(['strict', 'upstream'].includes(profile)
      ? []
      : [`profile: ${JSON.stringify(profile)} is not strict or upstream`]),
    ...(now instanceof Date && !Number.isNaN(now.getTime()) ? [] : ['now is not a valid Date']),
  ];
  if (clusterApi === undefined || problems.length > 0) {
    throw new RangeError(problems[0]);
  }
  const levels = levelsOf(options.levels);
  const ruleSet = createRuleSet({ profile, levels, maxHandlerTimeoutSeconds: seconds, clusterApi });
  return reportsOf(object, { rules: ruleSet, now }).map((report) => ({
    rule: report.rule.id,
    severity: report.severity,
    field: report.field,
    message: warningText(report),
  }));
}
