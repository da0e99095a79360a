import { compareReleases, exclusiveHooks, formatRelease, type Release } from '../../runtimehooks/index.ts';
import { type ExtensionVerdict, inOrder, type PreflightFinding, type Verdict, verdictOf } from './examine.ts';

/** The effects of an upgrade on all extensions. */
export interface PreflightReport {
  from: string;
  /**
   * Whether that release was detected or given by the user; otherwise it is the one before the target, and the verdict is
   * unknown at best.
   */
  isFromKnown: boolean;
  to: string;
  verdict: Verdict;
  /** Findings that do not concern a single extension. */
  findings: PreflightFinding[];
  extensions: ExtensionVerdict[];
}

function sharedFindings(
  { from, isFromKnown, to }: { from: Release; isFromKnown: boolean; to: Release },
  extensions: readonly ExtensionVerdict[],
): PreflightFinding[] {
  const findings: PreflightFinding[] = [];
  if (!isFromKnown && extensions.length > 0) {
    findings.push({
      severity: 'unknown',
      topic: 'other',
      message: `the running release is unknown; only what changed since ${formatRelease(from)} is listed`,
      remedy: 'name it with --current-cluster-api-version',
    });
  }
  for (const hook of exclusiveHooks) {
    const names = extensions.filter(({ hooks }) => hooks.includes(hook)).map(({ extensionConfig }) => extensionConfig);
    if (names.length > 1) {
      findings.push({
        severity: 'warning',
        topic: 'handlers',
        message: `${names.slice(0, 10).join(' and ')} serve ${hook}: where their namespaceSelectors overlap all in-place decisions fail`,
        remedy: 'let only one extension serve it',
      });
    }
  }
  if (isFromKnown && compareReleases(to, from) < 0) {
    findings.push({
      severity: 'warning',
      topic: 'other',
      message: `${formatRelease(to)} is older than ${formatRelease(from)}, which is running: downgrades are not checked`,
      remedy: 'first roll back extensions that offer hooks unknown to the older release',
    });
  }
  return findings;
}

/** Combines verdicts into a report. */
export function reportOf(
  upgrade: { from: Release; isFromKnown: boolean; to: Release },
  extensions: readonly ExtensionVerdict[],
): PreflightReport {
  const { from, isFromKnown, to } = upgrade;
  const findings = inOrder(sharedFindings(upgrade, extensions));
  return {
    from: formatRelease(from),
    isFromKnown,
    to: formatRelease(to),
    verdict: verdictOf([...findings, ...extensions.flatMap((extension) => extension.findings)]),
    findings,
    extensions: [...extensions],
  };
}
