import { count } from '../../base/index.ts';
import { type Finding, parsedInput, type Rule, rules } from '../../policy/index.ts';
import type { KnownHooks } from '../../runtimehooks/client/index.ts';
import { formatRelease, maxTimeoutSeconds as maxHandlerTimeoutSeconds } from '../../runtimehooks/index.ts';
import { type Condition, conditionOf } from '../configs/status.ts';
import type { StoredConfig } from '../configs/stored.ts';

export const hookVersionsSupported = 'HookVersionsSupported';

/** The rules to apply, the most severe first, with the reason that the condition gets when they have findings. */
const checks = [
  { id: 'hook-version-removed', reason: 'HookVersionRemoved' },
  { id: 'hook-unknown', reason: 'HookUnknown' },
  { id: 'hook-too-new', reason: 'HookTooNew' },
  { id: 'hook-version-deprecated', reason: 'HookVersionDeprecated' },
].map(({ id, reason }) => ({ rule: rules.find((one) => one.id === id) as Rule, reason }));

/** Maximum number of handlers that a message names. */
const maxNamed = 20;

/** What the rules find, with the reason of each. */
function findingsOf(config: StoredConfig, { catalog, release }: KnownHooks): (Finding & { because: string })[] {
  const options = { profile: 'strict', hooks: catalog, clusterApi: release, maxHandlerTimeoutSeconds } as const;
  const decoded = { object: config, whole: config, violations: [] };
  const versions = { writtenAs: 'v1beta2', version: 'v1beta2' } as const;
  const now = new Date();
  const input = parsedInput({ ...decoded, ...versions, subject: 'status', isPruned: true, now }, options);
  const findings: (Finding & { because: string })[] = [];
  for (const { rule, reason } of checks) {
    rule.check(input, (finding) => findings.push({ ...finding, because: reason }), options);
  }
  return findings;
}

/** `wait-for-backups: BeforeClusterUpgrade in this version …`. */
function lineOf({ path, message }: Finding, config: StoredConfig): string {
  const handler = config.status?.handlers?.[Number(path[2])];
  const [name = ''] = (handler?.name ?? '').split('.');
  const isNamed = message.startsWith(handler?.requestHook?.hook ?? '\0');
  return `${name}: ${isNamed ? '' : `${handler?.requestHook?.hook ?? ''} `}${message}`;
}

/**
 * Whether the targeted release of Cluster API supports the hook versions of all discovered handlers, and what to do
 * about those it does not support, worded as the rules' warnings at admission. Unknown without discovered handlers.
 */
export function hookVersionsCondition(config: StoredConfig, known: KnownHooks): Condition {
  const type = hookVersionsSupported;
  const handlers = config.status?.handlers ?? [];
  if (handlers.length === 0 && conditionOf(config.status, 'Discovered')?.status !== 'True') {
    const message = 'the extension has not been discovered yet';
    return { type, status: 'Unknown', reason: 'NotDiscovered', message };
  }
  const findings = findingsOf(config, known);
  const [worst] = findings;
  if (worst === undefined) {
    return { type, status: 'True', reason: 'Supported', message: '' };
  }
  const lines = findings.slice(0, maxNamed).map((finding) => lineOf(finding, config));
  const more = findings.length > maxNamed ? [`and ${count(findings.length - maxNamed, 'more handler')}`] : [];
  const release = formatRelease(known.release);
  return {
    type,
    status: 'False',
    reason: worst.because,
    message: `Cluster API ${release}: ${[...lines, ...more].join('; ')}`,
  };
}
