import {
  decodeExtensionConfig,
  hubVersion,
  isExtensionConfig,
  versionOf,
  withAllDefaults,
} from '../../extensionconfig/index.ts';
import { type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { PlacedObject } from '../../kubernetes/manifests/index.ts';
import type { Facts, Report, RuleInput, RuleSet } from '../../policy/index.ts';
import { warningText } from '../../policy/index.ts';
import type { LintedObject, LintFinding } from './result.ts';

/** The policy that objects are checked against. */
export interface LintPolicy {
  rules: RuleSet;
  /** Returns the current time, since certificates expire. */
  now: () => Date;
  /** Facts about the cluster that the objects are meant for. */
  facts?: Facts | undefined;
  /** Reads what else rules need to know about an ExtensionConfig. */
  prepare?: ((object: JsonObject) => Promise<void>) | undefined;
}

/** An apiVersion as text; empty for lists and objects, which may not even be convertible (`{toString: {}}`). */
function apiVersionText({ apiVersion }: JsonObject): string {
  return typeof apiVersion === 'object' ? '' : String(apiVersion ?? '');
}

function nameOf({ metadata }: JsonObject): string {
  const { name, generateName } = objectAt(metadata);
  return ([name, generateName].find((value) => typeof value === 'string' && value !== '') as string | undefined) ?? '';
}

function reportsOf(object: JsonObject, { rules, now, facts }: LintPolicy): Report[] {
  const version = versionOf(object.apiVersion);
  const complete = withAllDefaults(object);
  const input: RuleInput = {
    ...decodeExtensionConfig(
      version === undefined ? { ...complete, apiVersion: apiVersionText(object) } : complete,
      version ?? hubVersion,
    ),
    writtenAs: version ?? hubVersion,
    version: version ?? hubVersion,
    subject: 'object',
    isPruned: false,
    now: now(),
    facts,
  };
  const reports = rules.check(input);
  // If the version is unknown, so are its fields: only the version is reported.
  return version === undefined ? reports.filter(({ rule }) => rule.id === 'api-version-unknown') : reports;
}

/**
 * Checks an object as admission would on creation, with defaults applied, and including the handlers in its status.
 * Undefined for an object of another kind.
 */
export async function checkObject(
  file: string,
  { object, placeOf }: PlacedObject,
  policy: LintPolicy,
): Promise<LintedObject | undefined> {
  if (!isExtensionConfig(object)) {
    return undefined;
  }
  await policy.prepare?.(object);
  const findings = reportsOf(object, policy).map(
    (report): LintFinding => ({
      file,
      ...placeOf(report.path),
      ruleId: report.rule.id,
      severity: report.severity,
      field: report.field,
      message: warningText(report),
    }),
  );
  return { file, ...placeOf([]), name: nameOf(object), apiVersion: apiVersionText(object), findings };
}
