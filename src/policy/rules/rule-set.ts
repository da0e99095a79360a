import { count, truncated } from '../../base/index.ts';
import { type FieldPath, fieldAt, formatFieldPath, type Json } from '../../kubernetes/index.ts';
import { hookCatalog } from '../../runtimehooks/index.ts';
import { compareFieldPaths } from './field-order.ts';
import { caBundleOf, clientUrlOf, handlersOf, unrenderedIn } from './fields.ts';
import type { ParsedInput, Rule, RuleFinding, RuleInput, RuleOptions, Severity } from './rule.ts';
import { rules as allRules } from './rules.ts';

export type Level = Severity | 'off';

export interface RuleSetOptions extends RuleOptions {
  /** Levels of individual rules, by id; they override the profile. */
  levels?: ReadonlyMap<string, Level>;
  /** `warn`: denials of rules that are not Cluster API's own become warnings, for a trial period. */
  enforcement?: 'deny' | 'warn';
}

type Weighed = Pick<RuleFinding, 'rule' | 'severity'>;
type Located = Weighed & Pick<RuleFinding, 'path' | 'field'>;

export interface RuleSet {
  /**
   * All findings, in the order of the object's fields: at most `maxReports` (100) of at most `maxReportsLength` characters
   * in total. If there are more, denials take precedence, and one more without a field says how many were omitted.
   */
  check(input: RuleInput): RuleFinding[];
  /**
   * Ratcheting validation: a denial by a rule that is not Cluster API's own becomes a warning if the old object has the same
   * finding (rule, field, reason and value, even if the finding does not show the value).
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

/** Some paths, to look others up: whether one is among these or below one, and whether it is above one. */
function placesOf(paths: readonly FieldPath[]) {
  const key = (path: FieldPath) => JSON.stringify(path);
  const at = new Set(paths.map(key));
  const above = new Set(paths.flatMap((path) => path.map((_, index) => key(path.slice(0, index)))));
  return {
    hasAtOrAbove: (path: FieldPath) => path.some((_, index) => at.has(key(path.slice(0, index + 1)))),
    hasBelow: (path: FieldPath) => above.has(key(path)),
  };
}

/**
 * A test that tells whether a finding is only an echo of another one: because its rule could not read the field (which is
 * absent from the object that the rule saw), because the API server also makes that check and another rule explains it
 * better, or because the value is a placeholder of a template that the rule about them reports.
 *
 * @param unrendered the paths of the placeholders.
 */
export function createEchoTest(
  reports: readonly Located[],
  violations: RuleInput['violations'],
  unrendered: readonly FieldPath[],
): (report: Located) => boolean {
  const wrongType = violations.filter(({ problem, value }) => problem === 'type' && value !== null);
  const overLimit = violations.filter(({ problem }) => problem === 'tooLong' || problem === 'tooMany');
  const unreadByUpstream = placesOf(wrongType.map(({ path }) => path));
  const unread = placesOf([...wrongType, ...overLimit].map(({ path }) => path));
  const notRendered = reports.find(({ rule }) => rule.id === 'not-rendered');
  const placeholders = placesOf(notRendered ? unrendered : []);

  /** The highest severity on each field, of findings that are not fallbacks. */
  const explained = new Map<string, Severity>();
  for (const { rule, field, severity } of reports) {
    if (!rule.isFallback && explained.get(field) !== 'deny') {
      explained.set(field, severity);
    }
  }

  return ({ rule, severity, path, field }) => {
    if (rule.id === 'not-rendered') {
      return false;
    }
    if (notRendered && (notRendered.severity === 'deny' || severity === 'warn')) {
      // Findings about requirements of the selector are findings about the selector.
      const isSelector = path[1] === 'namespaceSelector' && placeholders.hasBelow(path);
      if (isSelector || placeholders.hasAtOrAbove(path)) {
        return true;
      }
    }
    if (rule.id === 'field-type') {
      return false;
    }
    if (rule.isFallback) {
      const other = explained.get(field);
      return other === 'deny' || (other !== undefined && severity === 'warn') || unreadByUpstream.hasAtOrAbove(path);
    }
    const paths = rule.upstream ? unreadByUpstream : unread;
    return paths.hasAtOrAbove(path) || paths.hasBelow(path);
  };
}

/** The reports to return: without echoes, in the order of the fields, and within the limits; `omitted` are not even looked at. */
function selected(findings: readonly RuleFinding[], omitted: readonly Weighed[], input: RuleInput): RuleFinding[] {
  const { object, violations } = input;
  const placeholders = unrenderedIn(object, violations).map(({ path }) => path);
  const isEcho = createEchoTest(findings, violations, placeholders);
  const reports = findings.filter((report) => !isEcho(report)).sort((a, b) => compareFieldPaths(a.path, b.path));
  // Denials first: if warnings crowded them out, the object would be allowed.
  const denialsFirst = [
    ...reports.filter(({ severity }) => severity === 'deny'),
    ...reports.filter(({ severity }) => severity === 'warn'),
  ];
  let length = 0;
  const chosen = new Set(
    denialsFirst.slice(0, maxReports).filter(({ field, message, value }) => {
      // Messages truncate longer values.
      length += field.length + message.length + (typeof value === 'string' ? Math.min(value.length, 128) : 0);
      return length <= maxReportsLength;
    }),
  );
  const leftOut: Weighed[] = [...omitted, ...denialsFirst.filter((report) => !chosen.has(report))];
  const worst = leftOut.find(({ severity }) => severity === 'deny') ?? leftOut[0];
  const selection = reports.filter((report) => chosen.has(report));
  if (worst !== undefined) {
    const message = count(leftOut.length, 'more finding');
    const { rule, severity } = worst;
    selection.push({ rule, severity, path: [], field: '', reason: 'FieldValueTooMany', message, verbatim: true });
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
    const omitted: Weighed[] = [];
    let current: (typeof active)[number];
    let most: number;
    const report: Parameters<Rule['check']>[1] = (finding) => {
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
      current.rule.check(current.rule.upstream ? upstreamInput : parsed, report, options);
    }
    return findings.length === 0 ? findings : selected(findings, omitted, input);
  }

  return {
    check,
    ratchet(reports, input, before) {
      const mayPass = ({ severity, rule }: RuleFinding) => severity === 'deny' && !rule.upstream;
      if (!reports.some(mayPass)) {
        return reports;
      }
      const old = new Set(check(before).map(reportKey));
      const isOld = (report: RuleFinding) =>
        old.has(reportKey(report)) && hiddenValueOf(report, input) === hiddenValueOf(report, before);
      return reports.map((report) => (mayPass(report) && isOld(report) ? { ...report, severity: 'warn' } : report));
    },
  };
}
