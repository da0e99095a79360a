/** `blocker`: after the upgrade something that works now would not. `unknown`: that could not be found out from here. */
export type FindingLevel = 'blocker' | 'unknown' | 'warning' | 'note';

/** What a finding is about, in the order in which findings are to be dealt with. */
export const topics = [
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
export type Topic = (typeof topics)[number];

/** One thing that was found out about an extension. */
export interface PreflightFinding {
  level: FindingLevel;
  topic: Topic;
  /** One line. */
  message: string;
  /** What to do about it; absent for a note that asks for nothing. */
  remedy?: string;
}

export type Verdict = 'safe' | 'unsafe' | 'unknown';

/** The verdict that findings come to. */
export function verdictOf(findings: readonly PreflightFinding[]): Verdict {
  return findings.some(({ level }) => level === 'blocker')
    ? 'unsafe'
    : findings.some(({ level }) => level === 'unknown')
      ? 'unknown'
      : 'safe';
}

const levels: readonly FindingLevel[] = ['blocker', 'unknown', 'warning', 'note'];

/** Findings in the order in which they are to be dealt with. */
export function inOrder(findings: readonly PreflightFinding[]): PreflightFinding[] {
  return findings.toSorted(
    (a, b) => levels.indexOf(a.level) - levels.indexOf(b.level) || topics.indexOf(a.topic) - topics.indexOf(b.topic),
  );
}
