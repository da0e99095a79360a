import { shortList } from '../../base/index.ts';
import { compareReleases, exclusiveHooks, formatRelease, type Release } from '../../runtimehooks/index.ts';
import type { ExtensionVerdict } from './examine.ts';
import { inOrder, type PreflightFinding, type Verdict, verdictOf } from './finding.ts';

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
  /** The steps before the upgrade, in order. Empty if it is safe. */
  first: string[];
  /** Findings that do not concern a single extension. */
  findings: PreflightFinding[];
  extensions: ExtensionVerdict[];
}

/** Maximum number of steps that are listed, and of extensions that one names. */
const maxSteps = 20;
const maxNames = 10;

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

/** Combines verdicts into a report, with what to do first. */
export function reportOf(
  upgrade: { from: Release; isFromKnown: boolean; to: Release },
  extensions: readonly ExtensionVerdict[],
): PreflightReport {
  const { from, isFromKnown, to } = upgrade;
  const findings = inOrder(sharedFindings(upgrade, extensions));
  const all = extensions.flatMap(({ extensionConfig, findings: own }) =>
    own.map((finding) => ({ ...finding, extensionConfig })),
  );
  /** The extensions that each remedy is for. */
  const first = new Map<string, Set<string>>();
  for (const { severity, remedy, extensionConfig } of inOrder(all)) {
    if (remedy !== undefined && (severity === 'error' || severity === 'unknown')) {
      first.set(remedy, (first.get(remedy) ?? new Set()).add(extensionConfig));
    }
  }
  return {
    from: formatRelease(from),
    isFromKnown,
    to: formatRelease(to),
    verdict: verdictOf([...all, ...findings]),
    first: [
      ...findings.flatMap(({ severity, remedy }) => (severity === 'unknown' && remedy !== undefined ? [remedy] : [])),
      ...[...first].slice(0, maxSteps).map(([remedy, names]) => `${shortList([...names], maxNames)}: ${remedy}`),
    ],
    findings,
    extensions: [...extensions],
  };
}
