import { dirname } from 'node:path';
import { decodeExtensionConfig, hubVersion, kind, versionOf, withAllDefaults } from '../../extensionconfig/index.ts';
import { type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { type PlacedObject, showPlace } from '../../kubernetes/manifests/index.ts';
import { type Facts, type RuleFinding, type RuleInput, type RuleSet, warningText } from '../../policy/index.ts';
import { isAlone } from './kustomize-patches.ts';
import type { LintedObject, LintFinding } from './result.ts';

export interface LintPolicy {
  rules: RuleSet;
  now: Date;
  facts?: Facts | undefined;
}

/** An apiVersion as text; empty for lists and objects, which may not even be convertible (`{toString: {}}`). */
function apiVersionText({ apiVersion }: JsonObject): string {
  return typeof apiVersion === 'object' ? '' : String(apiVersion ?? '');
}

function nameOf({ metadata }: JsonObject): string {
  const { name, generateName } = objectAt(metadata);
  return ([name, generateName].find((value) => typeof value === 'string' && value !== '') as string | undefined) ?? '';
}

/** Whether a finding only repeats another one, that its field must be set, or one of which it is an empty part. */
function isRepeated(report: RuleFinding, reports: readonly RuleFinding[]): boolean {
  return reports.some(
    ({ reason, severity, path }) =>
      reason === 'FieldValueRequired' &&
      severity === 'deny' &&
      (path.length === report.path.length ? report.reason !== reason : report.value === '') &&
      path.every((step, index) => step === report.path[index]),
  );
}

/** The findings of all rules in an object. `namesake`: where another object of the same name is. */
export function reportsOf(object: JsonObject, { rules, now, facts }: LintPolicy, namesake?: string): RuleFinding[] {
  const known = versionOf(object.apiVersion);
  const version = known ?? hubVersion;
  const complete = withAllDefaults(object);
  const input: RuleInput = {
    ...decodeExtensionConfig(known ? complete : { ...complete, apiVersion: apiVersionText(object) }, version),
    writtenAs: version,
    version,
    subject: 'object',
    isPruned: false,
    now,
    facts,
    namesake,
  };
  const reports = rules.check(input);
  // If the version is unknown, so are its fields: only the version is reported.
  return known === undefined ? reports.filter(({ field }) => field === 'apiVersion') : reports;
}

/**
 * Checks an object as admission would on creation, with defaults applied, and including the handlers in its status.
 * Undefined for an object of another kind.
 *
 * @param places of the objects before, by their folders and names; of those that kustomize composes, by their files.
 */
export function checkObject(
  file: string,
  { object, placeOf, endOf }: PlacedObject,
  policy: LintPolicy,
  places: Map<string, string>,
): LintedObject | undefined {
  // One of another API group is a finding.
  if (object.kind !== kind) {
    return undefined;
  }
  const name = nameOf(object);
  const place = { file, ...placeOf([]) };
  const key = `${isAlone(file) ? file : dirname(file)}\0${name}`;
  const namesake = name === '' ? undefined : places.get(key);
  places.set(key, namesake ?? showPlace({ file, line: place.line }));
  const reports = reportsOf(object, policy, namesake);
  const findings = reports
    .filter((report) => !isRepeated(report, reports))
    .map((report): LintFinding => {
      const { line: endLine, column: endColumn } = endOf(report.path);
      return {
        file,
        ...placeOf(report.path),
        ...{ endLine, endColumn },
        ruleId: report.rule.id,
        severity: report.severity,
        field: report.field,
        message: warningText(report),
      };
    })
    .sort((a, b) => a.line - b.line || a.column - b.column);
  return { ...place, name, apiVersion: apiVersionText(object), findings };
}
