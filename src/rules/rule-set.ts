import { formatFieldPath } from '../kubernetes/index.ts';
import { createEchoTest } from './echo.ts';
import { compareFieldPaths } from './field-order.ts';
import type { Finding, Part, Rule, RuleInput, RuleOptions, Severity, Subject } from './rule.ts';
import { rules as allRules } from './rules.ts';

/** Which rules run: all of them, or exactly what Cluster API itself rejects. */
export type Profile = 'strict' | 'upstream';

/** What a configuration file can make of a rule. */
export type Level = Severity | 'off';

/** How an operator sets the rules up. */
export interface RuleSetOptions extends RuleOptions {
  profile: Profile;
  /** Levels of single rules, by id; they count above the profile. */
  levels?: ReadonlyMap<string, Level>;
  /** `warn`: denials of rules that are not Cluster API's own become warnings, for a trial period. */
  enforcement: 'deny' | 'warn';
}

/** A finding with the rule it comes from and what it leads to. */
export interface Report extends Finding {
  rule: Rule;
  severity: Severity;
  /** The path in Kubernetes' form, e.g. `spec.clientConfig.url`. */
  field: string;
}

/** A rule and what its findings lead to here. */
export interface ActiveRule {
  rule: Rule;
  severity: Severity;
}

/** Rules set up for use. */
export interface RuleSet {
  readonly active: readonly ActiveRule[];
  /**
   * All findings at once, in the order of the object's fields. Of more than `maxReports` (or `maxReportsLength`) the
   * denials come first, and a last report without a field says how many were left out.
   */
  check(input: RuleInput): Report[];
  /**
   * Takes back denials that an update did not cause: one of a rule that is not Cluster API's own becomes a warning
   * when the old object has the same finding (rule, field and value).
   */
  ratchet(reports: Report[], oldInput: () => RuleInput): Report[];
}

/** Most findings that are reported of one object: nobody reads more, and the API server limits the answer. */
export const maxReports = 100;

/** Most characters of all reports together: the answer says everything twice, and an API server waits for it. */
export const maxReportsLength = 64 * 1024;

/** Longest value that a report is counted with, in characters: messages cut longer ones. */
const maxCountedValue = 128;

/** Longest message, in characters: some repeat keys that a user wrote. */
const maxMessageLength = 1000;

function cut(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
}

function severityOf(rule: Rule, { profile, levels, enforcement }: RuleSetOptions): Level {
  const level = levels?.get(rule.id) ?? (profile === 'upstream' && !rule.upstream ? 'off' : rule.severity);
  return level === 'deny' && !rule.upstream && enforcement === 'warn' ? 'warn' : level;
}

/** Findings that are not reported: how many, and a rule that they come from, by what it leads to. */
interface LeftOut {
  count: number;
  denied: ActiveRule | undefined;
  warned: ActiveRule | undefined;
}

function leaveOut(leftOut: LeftOut, { rule, severity }: ActiveRule): void {
  leftOut.count += 1;
  leftOut[severity === 'deny' ? 'denied' : 'warned'] ??= { rule, severity };
}

function byField(a: Report, b: Report): number {
  return compareFieldPaths(a.path, b.path);
}

function lengthOf({ field, message, value }: Report): number {
  return field.length + message.length + (typeof value === 'string' ? Math.min(value.length, maxCountedValue) : 0);
}

/** The reports that are given: no echoes, in the order of the fields, and no more than anybody reads. */
function selected(found: readonly Report[], input: RuleInput, leftOut: LeftOut): Report[] {
  const isEcho = createEchoTest(found, input.violations);
  const reports = found.filter((report) => !isEcho(report)).sort(byField);
  // A denial counts more than any number of warnings: without it the object would be allowed.
  const gravestFirst = [
    ...reports.filter(({ severity }) => severity === 'deny'),
    ...reports.filter(({ severity }) => severity === 'warn'),
  ];
  const chosen = new Set<Report>();
  let length = 0;
  for (const report of gravestFirst) {
    length += lengthOf(report);
    if (chosen.size < maxReports && length <= maxReportsLength) {
      chosen.add(report);
    } else {
      leaveOut(leftOut, report);
    }
  }
  const last = leftOut.denied ?? leftOut.warned;
  const given = reports.filter((report) => chosen.has(report));
  if (last !== undefined) {
    given.push({
      ...last,
      path: [],
      field: '',
      reason: 'FieldValueTooMany',
      message: `${leftOut.count} more findings were left out`,
      verbatim: true,
    });
  }
  return given;
}

function keyOf(report: Report): string {
  return JSON.stringify([report.rule.id, report.field, report.reason, report.value ?? report.message]);
}

const subjects: readonly Subject[] = ['object', 'status'];
const parts: readonly Part[] = ['url', 'service', 'caBundle', 'handlers', 'settings', 'violations'];

/** The parts that an input has, as bits in the order of `parts`. */
function presentParts({ whole: object, violations }: RuleInput): number {
  const { clientConfig, settings } = object.spec ?? {};
  return (
    (clientConfig?.url ? 1 : 0) |
    (clientConfig?.service ? 2 : 0) |
    (clientConfig?.caBundle ? 4 : 0) |
    (object.status?.handlers?.length ? 8 : 0) |
    (settings ? 16 : 0) |
    (violations.length > 0 ? 32 : 0)
  );
}

/** Makes a set of rules from what an operator has set. */
export function createRuleSet(options: RuleSetOptions, rules: readonly Rule[] = allRules): RuleSet {
  const active = rules.flatMap((rule): ActiveRule[] => {
    const severity = severityOf(rule, options);
    return severity === 'off' ? [] : [{ rule, severity }];
  });

  // Most objects lack most parts. The rules that remain are picked once for every combination that comes up.
  const picked = new Map<number, readonly ActiveRule[]>();
  function rulesFor(input: RuleInput): readonly ActiveRule[] {
    const present = presentParts(input);
    const key = present * subjects.length + subjects.indexOf(input.subject);
    let rulesOfKey = picked.get(key);
    if (rulesOfKey === undefined) {
      rulesOfKey = active.filter(
        ({ rule }) =>
          rule.subjects.includes(input.subject) &&
          (rule.about === undefined || (present & (1 << parts.indexOf(rule.about))) !== 0),
      );
      picked.set(key, rulesOfKey);
    }
    return rulesOfKey;
  }

  function check(input: RuleInput): Report[] {
    const reports: Report[] = [];
    const leftOut: LeftOut = { count: 0, denied: undefined, warned: undefined };
    let current: ActiveRule;
    let limit: number;
    const add = (finding: Finding) => {
      if (reports.length < limit) {
        reports.push({
          ...finding,
          ...current,
          message: cut(finding.message),
          field: formatFieldPath(finding.path),
        });
      } else {
        leaveOut(leftOut, current);
      }
    };
    const upstreamInput = input.whole === input.object ? input : { ...input, object: input.whole };
    for (current of rulesFor(input)) {
      limit = reports.length + maxReports;
      current.rule.check(current.rule.upstream ? upstreamInput : input, add, options);
    }
    return reports.length === 0 ? reports : selected(reports, input, leftOut);
  }

  return {
    active,
    check,
    ratchet(reports, oldInput) {
      if (reports.every(({ severity, rule }) => severity === 'warn' || rule.upstream)) {
        return reports;
      }
      const old = new Set(check(oldInput()).map(keyOf));
      return reports.map((report) =>
        report.severity === 'deny' && !report.rule.upstream && old.has(keyOf(report))
          ? { ...report, severity: 'warn' }
          : report,
      );
    },
  };
}
