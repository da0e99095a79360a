import { count } from '../../base/index.ts';
import { type Finding, parsedInput, type Rule, rules } from '../../policy/index.ts';
import type { KnownHooks } from '../../runtimehooks/client/index.ts';
import { formatRelease, maxTimeoutSeconds } from '../../runtimehooks/index.ts';
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

function findingsOf(rule: Rule, config: StoredConfig, { catalog, release }: KnownHooks): Finding[] {
  const findings: Finding[] = [];
  const options = {
    profile: 'strict',
    hooks: catalog,
    clusterApi: release,
    maxHandlerTimeoutSeconds: maxTimeoutSeconds,
  } as const;
  const input = parsedInput(
    {
      object: config,
      whole: config,
      violations: [],
      writtenAs: 'v1beta2',
      version: 'v1beta2',
      subject: 'status',
      isPruned: true,
      now: () => new Date(),
    },
    options,
  );
  rule.check(input, (finding) => findings.push(finding), options);
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
  const findings = checks.flatMap(({ rule, reason }) =>
    findingsOf(rule, config, known).map((finding) => ({ reason, finding })),
  );
  const [worst] = findings;
  if (worst === undefined) {
    return { type, status: 'True', reason: 'Supported', message: '' };
  }
  const lines = findings.slice(0, maxNamed).map(({ finding }) => lineOf(finding, config));
  const more = findings.length > maxNamed ? [`and ${count(findings.length - maxNamed, 'more handler')}`] : [];
  const release = formatRelease(known.release);
  return {
    type,
    status: 'False',
    reason: worst.reason,
    message: `Cluster API ${release}: ${[...lines, ...more].join('; ')}`,
  };
}
