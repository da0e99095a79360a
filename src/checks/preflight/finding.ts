/** `blocker`: something that works now would not work after the upgrade. `unknown`: that could not be determined. */
export type FindingLevel = 'blocker' | 'unknown' | 'warning' | 'note';

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

/** One thing that was found out about an extension. */
export interface PreflightFinding {
  level: FindingLevel;
  topic: Topic;
  /** One line. */
  message: string;
  /** The remedy; absent for a note that requires no action. */
  remedy?: string;
}

/** Whether an upgrade is safe for an extension, or for all. */
export type Verdict = 'safe' | 'unsafe' | 'unknown';

/** The verdict that follows from findings. */
export function verdictOf(findings: readonly PreflightFinding[]): Verdict {
  return findings.some(({ level }) => level === 'blocker')
    ? 'unsafe'
    : findings.some(({ level }) => level === 'unknown')
      ? 'unknown'
      : 'safe';
}

const levels: readonly FindingLevel[] = ['blocker', 'unknown', 'warning', 'note'];

/** Findings in the order in which to deal with them. */
export function inOrder(findings: readonly PreflightFinding[]): PreflightFinding[] {
  return findings.toSorted(
    (a, b) => levels.indexOf(a.level) - levels.indexOf(b.level) || topics.indexOf(a.topic) - topics.indexOf(b.topic),
  );
}
