import type { ExtensionFinding } from '../../runtimehooks/client/index.ts';

/** What a finding is about, in the order in which to deal with findings. */
const topics = [
  'unreachable',
  'refused',
  'hook-removed',
  'ca',
  'certificate',
  'api-version',
  'hook-deprecated',
  'handlers',
  'wire',
  'other',
] as const;
/** One of `topics`. */
export type Topic = (typeof topics)[number];

/** A finding of a preflight. `error`: something that works now would not work after the upgrade. */
export interface PreflightFinding extends ExtensionFinding {
  topic: Topic;
}

/** Whether an upgrade is safe for an extension, or for all. */
export type Verdict = 'safe' | 'unsafe' | 'unknown';

/** The verdict that follows from findings. */
export function verdictOf(findings: readonly PreflightFinding[]): Verdict {
  const has = (wanted: PreflightFinding['severity']) => findings.some(({ severity }) => severity === wanted);
  return has('error') ? 'unsafe' : has('unknown') ? 'unknown' : 'safe';
}

const severities: readonly PreflightFinding['severity'][] = ['error', 'unknown', 'warning', 'note'];

/** Findings in the order in which to deal with them. */
export function inOrder<T extends PreflightFinding>(findings: readonly T[]): T[] {
  return findings.toSorted(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      topics.indexOf(a.topic) - topics.indexOf(b.topic),
  );
}
