import { withoutControls } from '../../base/index.ts';
import { group, kind } from '../../extensionconfig/index.ts';
import { type AdmissionResponse, causeMessage, failure, invalid, showValue } from '../../kubernetes/index.ts';
import type { FactKind } from '../facts/store.ts';
import type { RuleFinding } from '../rules/rule.ts';

/** How current the facts about the cluster are at the time of a decision. */
export interface Knowledge {
  /** The age of the oldest known part, in milliseconds; undefined if nothing is known. */
  ageMs: number | undefined;
  unknown: readonly FactKind[];
}

/** The result of a review: the response, and what logs and metrics need. */
export interface AdmissionOutcome {
  response: AdmissionResponse;
  verdict: 'allowed' | 'warned' | 'denied' | 'malformed';
  deniedBy: string[];
  warnedBy: string[];
  /** How current the facts about the cluster were; absent if facts are not used. */
  knowledge?: Knowledge;
}

/** Longest warning, and all of them, in characters: the API server may truncate longer ones, and drops what is beyond. */
const maxWarningLength = 256;
const maxWarningsLength = 4096;
const andMore = 'there are more warnings than an API server passes on';

/** A finding in one line, for kubectl's "Warning: " and for the linter. */
export function warningText({ field, message, value, verbatim }: RuleFinding): string {
  const shown = value === undefined ? message : `${showValue(value)}: ${message}`;
  return withoutControls(verbatim ? message : `${field}: ${shown}`);
}

function warningsOf(reports: readonly RuleFinding[]): string[] {
  const lines = new Set<string>();
  let length = 0;
  for (const report of reports) {
    const text = warningText(report);
    const line = text.length > maxWarningLength ? `${text.slice(0, maxWarningLength - 1)}…` : text;
    // The last one may itself stand for many findings, so the others are not counted.
    if (length + line.length > maxWarningsLength - andMore.length) {
      lines.add(andMore);
      break;
    }
    lines.add(line);
    length += line.length;
  }
  return [...lines];
}

const ruleIdsOf = (reports: readonly RuleFinding[]) => [...new Set(reports.map(({ rule }) => rule.id))];

/** Rejects a review that is not intended for this webhook, or malformed: 400. */
export function rejectMalformed(uid: string, problem: string): AdmissionOutcome {
  const status = failure(400, 'BadRequest', withoutControls(problem));
  const response: AdmissionResponse = { uid, allowed: false, status };
  return { response, verdict: 'malformed', deniedBy: [], warnedBy: [] };
}

/** Denies a write because the feature gate is disabled: 403, as core/webhooks/admission/extensionconfig.go does, v1.14. */
export function denyByGate(uid: string, name: string, gate: string): AdmissionOutcome {
  const message = causeMessage(
    'FieldValueForbidden',
    undefined,
    `can be set only if the feature gate ${gate} is enabled; start Cluster API and this webhook with --feature-gates=${gate}=true`,
  );
  const status = failure(403, 'Forbidden', `spec: ${message}`, {
    name,
    group,
    kind,
    causes: [{ reason: 'FieldValueForbidden', message, field: 'spec' }],
  });
  const id = 'feature-gate';
  const response: AdmissionResponse = { uid, allowed: false, status, auditAnnotations: { 'denied-by': id } };
  return { response, verdict: 'denied', deniedBy: [id], warnedBy: [] };
}

/** The outcome for findings about a deletion: denied (403, as by Cluster API) or allowed, with warnings. */
export function outcomeOfDeletion(uid: string, name: string, reports: readonly RuleFinding[]): AdmissionOutcome {
  const outcome = outcomeOfWrite(uid, name, reports);
  const { status } = outcome.response;
  if (status?.details?.causes !== undefined) {
    const denials = reports.filter(({ severity }) => severity === 'deny');
    const text = denials.map(({ message }) => withoutControls(message)).join('; ');
    outcome.response.status = failure(403, 'Forbidden', `${kind} ${JSON.stringify(name)} ${text}`, status.details);
  }
  return outcome;
}

/** The outcome with audit annotations for the age of its facts, in whole seconds, and for missing ones. */
export function withKnowledge(outcome: AdmissionOutcome, { ageMs, unknown }: Knowledge): AdmissionOutcome {
  const { response } = outcome;
  const annotations = response.auditAnnotations ?? {};
  if (ageMs !== undefined) {
    annotations['facts-age-seconds'] = String(Math.ceil(ageMs / 1000));
  }
  if (unknown.length > 0) {
    annotations['facts-unknown'] = unknown.join(',');
  }
  response.auditAnnotations = annotations;
  outcome.knowledge = { ageMs, unknown };
  return outcome;
}

/** The outcome for findings: denied (422) with one cause per denial, or allowed; with warnings in both cases. */
export function outcomeOfWrite(uid: string, name: string, reports: readonly RuleFinding[]): AdmissionOutcome {
  const denials = reports.filter(({ severity }) => severity === 'deny');
  const warnings = reports.filter(({ severity }) => severity === 'warn');
  const deniedBy = ruleIdsOf(denials);
  const warnedBy = ruleIdsOf(warnings);
  const response: AdmissionResponse = { uid, allowed: denials.length === 0 };
  if (denials.length > 0) {
    const causes = denials.map(({ field, reason, value, message, verbatim }) => ({
      reason,
      message: withoutControls(verbatim ? message : causeMessage(reason, value, message)),
      ...(field === '' ? {} : { field: withoutControls(field) }),
    }));
    response.status = invalid(group, kind, name, causes);
  }
  if (warnings.length > 0) {
    response.warnings = warningsOf(warnings);
  }
  response.auditAnnotations = {
    ...(deniedBy.length > 0 ? { 'denied-by': deniedBy.join(',') } : {}),
    ...(warnedBy.length > 0 ? { 'warned-by': warnedBy.join(',') } : {}),
  };
  return { response, verdict: denials.length > 0 ? 'denied' : 'warned', deniedBy, warnedBy };
}
