import { count, truncated } from '../../base/index.ts';
import { fieldAt, formatFieldPath, type Json } from '../../kubernetes/index.ts';
import { hookCatalog } from '../../runtimehooks/index.ts';
import { createEchoTest } from './echo.ts';
import { compareFieldPaths } from './field-order.ts';
import { caBundleOf } from './fields/ca-bundle.ts';
import { handlersOf } from './fields/handlers.ts';
import { unrenderedIn } from './fields/placeholders.ts';
import { clientUrlOf } from './fields/url.ts';
import type { ParsedInput, Reported, Rule, RuleFinding, RuleInput, RuleOptions, Severity } from './rule.ts';
import { rules as allRules } from './rules.ts';

export type Level = Severity | 'off';

export interface RuleSetOptions extends RuleOptions {
  /** Levels of individual rules, by id; they override the profile. */
  levels?: ReadonlyMap<string, Level>;
  /** `warn`: denials of rules that are not Cluster API's own become warnings, for a trial period. */
  enforcement?: 'deny' | 'warn';
}

type Omitted = Pick<RuleFinding, 'rule' | 'severity'>;

export interface RuleSet {
  /**
   * Returns all findings at once, in the order of the object's fields: at most `maxReports` (100) of at most
   * `maxReportsLength` characters in total. If there are more, denials take precedence over warnings, and one more
   * report without a field says how many were omitted.
   */
  check(input: RuleInput): RuleFinding[];
  /**
   * Ratcheting validation: denials that an update did not cause become warnings. A denial by a rule that is not Cluster
   * API's own becomes a warning if the old object has the same finding (rule, field, reason and value, even if the
   * finding does not show the value).
   */
  ratchet(reports: RuleFinding[], input: RuleInput, before: RuleInput): RuleFinding[];
}

/** Maximum number of findings that are reported for one object: more are not useful to read. */
const maxReports = 100;

/** Maximum number of UTF-16 units of all reports: the response repeats everything, and an API server waits for it. */
const maxReportsLength = 64 * 1024;

function severityOf(rule: Rule, { profile, levels, enforcement }: RuleSetOptions): Level {
  const level = levels?.get(rule.id) ?? (profile === 'upstream' && !rule.upstream ? 'off' : rule.severity);
  return level === 'deny' && !rule.upstream && enforcement === 'warn' ? 'warn' : level;
}

function lengthOf({ field, message, value }: RuleFinding): number {
  // Messages truncate longer values.
  return field.length + message.length + (typeof value === 'string' ? Math.min(value.length, 128) : 0);
}

/** The reports to return: without echoes, in the order of the fields, and within the limits; `omitted` are not even looked at. */
function selected(findings: readonly RuleFinding[], omitted: readonly Omitted[], input: RuleInput): RuleFinding[] {
  const isEcho = createEchoTest(
    findings,
    input.violations,
    unrenderedIn(input).map(({ path }) => path),
  );
  const reports = findings.filter((report) => !isEcho(report)).sort((a, b) => compareFieldPaths(a.path, b.path));
  // Denials first: if warnings crowded them out, the object would be allowed.
  const denialsFirst = [
    ...reports.filter(({ severity }) => severity === 'deny'),
    ...reports.filter(({ severity }) => severity === 'warn'),
  ];
  const chosen = new Set<RuleFinding>();
  let length = 0;
  for (const report of denialsFirst) {
    length += lengthOf(report);
    if (chosen.size < maxReports && length <= maxReportsLength) {
      chosen.add(report);
    }
  }
  const selection = reports.filter((report) => chosen.has(report));
  const leftOut: Omitted[] = [...omitted, ...denialsFirst.filter((report) => !chosen.has(report))];
  const worst = leftOut.find(({ severity }) => severity === 'deny') ?? leftOut[0];
  if (worst !== undefined) {
    selection.push({
      rule: worst.rule,
      severity: worst.severity,
      path: [],
      field: '',
      reason: 'FieldValueTooMany',
      message: count(leftOut.length, 'more finding'),
      verbatim: true,
    });
  }
  return selection;
}

function reportKey(report: RuleFinding): string {
  return JSON.stringify([report.rule.id, report.field, report.reason, report.value ?? report.message]);
}

/** The text, number or boolean that a finding does not show, such as a caBundle: its message is always the same. */
function hiddenValueOf({ value, path }: RuleFinding, { whole }: RuleInput): Json | undefined {
  const hidden = value === undefined ? fieldAt(whole as unknown as Json, ...path) : undefined;
  return typeof hidden === 'object' ? undefined : hidden;
}

export function parsedInput(input: RuleInput, { hooks = hookCatalog }: Pick<RuleOptions, 'hooks'>): ParsedInput {
  const { object } = input;
  return { ...input, url: clientUrlOf(object), caBundle: caBundleOf(object), handlers: handlersOf(object, hooks) };
}

export function createRuleSet(options: RuleSetOptions, rules: readonly Rule[] = allRules): RuleSet {
  const active = rules.flatMap((rule) => {
    const severity = severityOf(rule, options);
    return severity === 'off' ? [] : [{ rule, severity }];
  });
  const activeFor = ({ subject, facts, isPruned }: RuleInput) =>
    active.filter(
      ({ rule: { subjects = ['object'], needs } }) =>
        subjects.includes(subject) && !(needs === 'facts' && !facts) && !(needs === 'manifest' && isPruned),
    );

  function check(input: RuleInput): RuleFinding[] {
    const parsed = parsedInput(input, options);
    const upstreamInput = input.whole === input.object ? parsed : { ...parsed, object: input.whole };
    const findings: RuleFinding[] = [];
    const omitted: Omitted[] = [];
    let current: (typeof active)[number];
    let most: number;
    const add = (finding: Reported) => {
      if (findings.length === most) {
        omitted.push(current);
      } else {
        // Some messages repeat keys of the object.
        const message = truncated(finding.message, 1000);
        const field = formatFieldPath(finding.path);
        findings.push({ reason: 'FieldValueInvalid', ...finding, ...current, message, field });
      }
    };
    for (current of activeFor(input)) {
      most = findings.length + maxReports;
      current.rule.check(current.rule.upstream ? upstreamInput : parsed, add, options);
    }
    return findings.length === 0 ? findings : selected(findings, omitted, input);
  }

  return {
    check,
    ratchet(reports, input, before) {
      if (reports.every(({ severity, rule }) => severity === 'warn' || rule.upstream)) {
        return reports;
      }
      const old = new Set(check(before).map(reportKey));
      const isOld = (report: RuleFinding) =>
        old.has(reportKey(report)) && hiddenValueOf(report, input) === hiddenValueOf(report, before);
      return reports.map((report) =>
        report.severity === 'deny' && !report.rule.upstream && isOld(report) ? { ...report, severity: 'warn' } : report,
      );
    },
  };
}
