import {
  decodeExtensionConfig,
  type ExtensionConfig,
  group,
  hubVersion,
  injectCaFromSecretAnnotation,
  kind,
} from '../../extensionconfig/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { createRuleSet } from '../../policy/index.ts';
import {
  addressOf,
  certificateDateFinding,
  type ExtensionAnswer,
  type ExtensionFinding,
  extensionOf,
  isCallError,
  quotable,
  type Resolve,
} from '../../runtimehooks/client/index.ts';
import {
  clusterApiHooks,
  compareReleases,
  formatRelease,
  generalChanges,
  hookCatalog,
  maxTimeoutSeconds,
  phaseIn,
  type Release,
  type ReleaseChange,
} from '../../runtimehooks/index.ts';
import { olderVersionsOf } from './written-as.ts';

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
type Topic = (typeof topics)[number];

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

interface ExtensionFacts {
  config: ExtensionConfig;
  /** The object as written in a manifest, or as returned by the API server. */
  original: JsonObject;
  isFromCluster: boolean;
  /** What the server answers, by the rules of the target release. */
  answer: ExtensionAnswer;
}

interface Upgrade {
  from: Release;
  to: Release;
  now: Date;
  resolve?: Resolve | undefined;
}

/** The effects of an upgrade on one extension. */
export interface ExtensionVerdict {
  extensionConfig: string;
  verdict: Verdict;
  /** In the order in which to handle them. */
  findings: PreflightFinding[];
  hooks: string[];
}

/** Rules whose findings matter to an upgrade, and their level then. */
const relevantRules: Readonly<
  Record<string, { severity: PreflightFinding['severity']; topic: Topic; remedy?: string }>
> = {
  'hook-version-removed': { severity: 'error', topic: 'hook-removed' },
  'hook-unknown': { severity: 'error', topic: 'refused' },
  'hook-too-new': { severity: 'error', topic: 'refused' },
  'hook-version-deprecated': { severity: 'warning', topic: 'hook-deprecated' },
  'ca-bundle-pem': {
    severity: 'error',
    topic: 'ca',
    remedy: 'put the certificate of the CA into spec.clientConfig.caBundle',
  },
  'ca-certificate-expired': { severity: 'error', topic: 'ca' },
  'ca-certificate-not-yet-valid': {
    severity: 'warning',
    topic: 'ca',
    remedy: 'upgrade once it is valid, or keep the certificate of the previous CA next to it until then',
  },
  'ca-certificate-expiring': { severity: 'warning', topic: 'ca' },
  'ca-missing': {
    severity: 'warning',
    topic: 'ca',
    remedy: `put the certificate of the CA into spec.clientConfig.caBundle, or name its Secret in the annotation ${injectCaFromSecretAnnotation}`,
  },
};
type Findings = Generator<PreflightFinding>;

const aboutHooks: readonly Topic[] = ['hook-removed', 'refused', 'hook-deprecated'];

const remedies = {
  refused:
    'install a release of the extension without this handler before the upgrade, or choose a target that knows the hook',
  'hook-removed': 'serve the version that replaces it before the upgrade: one such handler refuses the whole extension',
  'hook-deprecated': 'serve the version that replaces it while both exist',
  ca: 'renew the CA, and put its certificate into spec.clientConfig.caBundle next to the old one',
} satisfies Partial<Record<Topic, string>>;

function ruleFindings({ config, answer }: ExtensionFacts, { to, now }: Upgrade): PreflightFinding[] {
  // When the managers restart, the discovered handlers replace the registered ones.
  const { discovered } = answer;
  const current =
    discovered.ok === true ? { ...config, status: { ...config.status, handlers: discovered.handlers } } : config;
  const rules = createRuleSet({
    profile: 'strict',
    enforcement: 'deny',
    maxHandlerTimeoutSeconds: maxTimeoutSeconds,
    clusterApi: to,
  });
  const reports = rules.check({
    ...decodeExtensionConfig(current as unknown as JsonObject, hubVersion),
    writtenAs: hubVersion,
    version: hubVersion,
    subject: 'object',
    isPruned: true,
    now,
  });
  return reports.flatMap(({ rule, field, value, message }) => {
    const relevant = relevantRules[rule.id];
    const remedy = relevant && (relevant.remedy ?? (remedies as Partial<Record<Topic, string>>)[relevant.topic]);
    const shown = value === undefined ? '' : ` ${JSON.stringify(quotable(String(value), 100))}`;
    return relevant === undefined
      ? []
      : [{ ...relevant, message: quotable(`${field}:${shown} ${message}`), ...(remedy !== undefined && { remedy }) }];
  });
}

/** Evaluates the response to Discovery by the rules of the target release. */
function* discoveryFindings({ answer, config }: ExtensionFacts, upgrade: Upgrade): Findings {
  const { discovered } = answer;
  const topic = 'unreachable';
  if (discovered.ok) {
    return;
  }
  const { error, problems } = discovered;
  for (const { message, remedy } of problems) {
    yield {
      severity: 'error',
      topic: 'refused',
      message: `${formatRelease(upgrade.to)} refuses the extension as a whole: ${message}`,
      remedy: message.endsWith('is not in the Runtime SDK catalog') ? remedies.refused : remedy,
    };
  }
  if (problems.length > 0) {
    return;
  }
  const target = addressOf(extensionOf(config).clientConfig);
  const isClusterName = !isCallError(target) && target.serverName.endsWith('.svc');
  if (isClusterName && error.message.includes('no such host') && upgrade.resolve?.(target.host) === undefined) {
    // Without the name of the host, so that a report says it once for all extensions.
    const message = 'cannot be reached from here: a Service has an address only in its cluster';
    const remedy = 'run the preflight in the cluster (manifests/preflight), or reach the Service with --resolve';
    yield { severity: 'unknown', topic, message, remedy };
    return;
  }
  const message = `does not answer now: ${error.message.replace(/^failed to discover extension "[^"]{0,253}": (?:http call failed: Post "[^"]{0,2000}": )?/, '')}`;
  yield { severity: 'error', topic, message, remedy: unreachableRemedy };
}

const unreachableRemedy =
  'repair it or delete the ExtensionConfig before the upgrade: the upgrade restarts the managers, and a manager that cannot discover every extension within a minute exits, again and again';

function* certificateFindings({ answer }: ExtensionFacts, { now }: Upgrade): Findings {
  const finding = answer.tls && certificateDateFinding(answer.tls, now);
  if (finding !== undefined) {
    const remedy = 'renew it before the upgrade: restarted managers discover every extension again';
    yield { ...finding, topic: 'certificate', remedy };
  }
}

function* caFindings({ config, isFromCluster }: ExtensionFacts): Findings {
  const isInjected = config.metadata.annotations?.[injectCaFromSecretAnnotation] !== undefined;
  if (!isInjected || config.spec?.clientConfig?.caBundle) {
    return;
  }
  if (!isFromCluster) {
    yield { severity: 'note', topic: 'ca', message: 'its caBundle is injected in the cluster and was not checked' };
    return;
  }
  const message =
    'has no caBundle although an annotation requests its injection: the Secret or its key ca.crt is missing';
  const remedy =
    'create the Secret that the annotation names: without it, a restarted manager cannot discover the extension';
  yield { severity: 'error', topic: 'ca', message, remedy };
}

function* apiVersionFindings({ original, isFromCluster }: ExtensionFacts, { to }: Upgrade): Findings {
  const topic = 'api-version';
  const remedy = `convert the manifest to ${group}/${hubVersion}: "convert --to ${hubVersion} --write FILE"`;
  for (const { apiVersion, by } of olderVersionsOf(original, isFromCluster)) {
    const lifespan = hookCatalog.find(group, apiVersion.slice(group.length + 1), kind);
    const phase = lifespan === undefined ? 'removed' : phaseIn(lifespan, to);
    const message = `${quotable(by, 60)} writes it as ${quotable(apiVersion, 60)}`;
    if (phase === 'removed') {
      yield {
        ...{ severity: 'error', topic, remedy },
        message: `${message}, which ${formatRelease(to)} does not have`,
      };
    } else if (phase === 'deprecated') {
      yield { severity: 'warning', topic, message: `${message}, which is deprecated`, remedy };
    }
  }
}

/** Handlers that will appear or disappear with the next discovery, which the upgrade triggers. */
function* handlerFindings({ config, answer }: ExtensionFacts): Findings {
  const { discovered } = answer;
  if (discovered.ok !== true) {
    return;
  }
  const offered = new Set(discovered.handlers.map(({ name }) => name));
  const gone = (config.status?.handlers ?? []).map(({ name = '' }) => name).filter((name) => !offered.has(name));
  if (gone.length > 0) {
    const message = `no longer offers ${quotable(gone.slice(0, 10).join(', '), 300)}, which is registered`;
    const remedy = 'check whether a ClusterClass names it: its Clusters stop reconciling when the managers restart';
    yield { severity: 'warning', topic: 'handlers', message, remedy };
  }
}

/** The changes of calls that affect the given hooks when one release replaces another, oldest first. */
function wireChangesBetween(from: Release, to: Release, called: ReadonlySet<string>): ReleaseChange[] {
  const ofHooks = clusterApiHooks.filter(({ name }) => called.has(name)).flatMap(({ changes }) => changes);
  // Hooks share theirs.
  return [...new Set([...generalChanges, ...ofHooks])]
    .filter(({ release }) => compareReleases(release, from) > 0 && compareReleases(release, to) <= 0)
    .sort((a, b) => compareReleases(a.release, b.release));
}

/** The effects of an upgrade of Cluster API on an extension. Pure: all facts are passed in. */
export function examineExtension(facts: ExtensionFacts, upgrade: Upgrade): ExtensionVerdict {
  const { config } = facts;
  const discovered = facts.answer.discovered;
  const offered = discovered.ok === true ? discovered.handlers : (config.status?.handlers ?? []);
  const hooks = [...new Set(offered.map(({ requestHook }) => requestHook?.hook ?? ''))].filter((name) => name !== '');
  const isRefused = discovered.ok === false && discovered.problems.length > 0;
  const findings = [
    ...discoveryFindings(facts, upgrade),
    // Problems with the whole response are reported once.
    ...ruleFindings(facts, upgrade).filter(({ topic }) => !isRefused || !aboutHooks.includes(topic)),
    ...caFindings(facts),
    ...certificateFindings(facts, upgrade),
    ...apiVersionFindings(facts, upgrade),
    ...handlerFindings(facts),
    ...wireChangesBetween(upgrade.from, upgrade.to, new Set(hooks)).map(
      ({ release, isBreaking, text, remedy }): PreflightFinding => ({
        severity: isBreaking && hooks.length > 0 ? 'warning' : 'note',
        topic: 'wire',
        message: `${formatRelease(release)}: ${text}`,
        remedy,
      }),
    ),
  ];
  return {
    extensionConfig: config.metadata.name ?? '',
    verdict: verdictOf(findings),
    findings: inOrder(findings),
    hooks,
  };
}
