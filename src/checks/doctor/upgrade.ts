import { count, shortList } from '../../base/index.ts';
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
  exclusiveHooks,
  formatRelease,
  generalChanges,
  hookCatalog,
  maxTimeoutSeconds,
  phaseIn,
  type Release,
  type ReleaseChange,
} from '../../runtimehooks/index.ts';
import { ok, type Tick } from './tick.ts';
import { olderVersionsOf } from './written-as.ts';

/** An extension of a cluster, and what its server answers by the rules of the target release. */
export interface AskedExtension {
  config: ExtensionConfig;
  /** The object as returned by the API server. */
  original: JsonObject;
  answer: ExtensionAnswer;
}

/** An upgrade of Cluster API. */
export interface Upgrade {
  /** The release that is running; undefined if that is not known. */
  from: Release | undefined;
  to: Release;
  now: Date;
  resolve?: Resolve | undefined;
}

type Finding = Omit<Tick, 'check'>;
type Findings = Generator<Finding>;

const results = { error: 'failed', unknown: 'failed', warning: 'warning', note: 'note' } as const satisfies Record<
  ExtensionFinding['severity'],
  Tick['result']
>;

const remedies = {
  refused:
    'install a release of the extension without this handler before the upgrade, or choose a target that knows the hook',
  'hook-removed': 'serve the version that replaces it before the upgrade: one such handler refuses the whole extension',
  'hook-deprecated': 'serve the version that replaces it while both exist',
  ca: 'renew the CA, and put its certificate into spec.clientConfig.caBundle next to the old one',
};

/** Rules whose findings matter to an upgrade, their level then, and what to do. `isOfHook`: said once if all is refused. */
const relevantRules: Readonly<Record<string, Omit<Finding, 'message'> & { isOfHook?: true }>> = {
  'hook-version-removed': { result: 'failed', remedy: remedies['hook-removed'], isOfHook: true },
  'hook-unknown': { result: 'failed', remedy: remedies.refused, isOfHook: true },
  'hook-too-new': { result: 'failed', remedy: remedies.refused, isOfHook: true },
  'hook-version-deprecated': { result: 'warning', remedy: remedies['hook-deprecated'], isOfHook: true },
  'ca-bundle-pem': { result: 'failed', remedy: 'put the certificate of the CA into spec.clientConfig.caBundle' },
  'ca-certificate-expired': { result: 'failed', remedy: remedies.ca },
  'ca-certificate-not-yet-valid': {
    result: 'warning',
    remedy: 'upgrade once it is valid, or keep the certificate of the previous CA next to it until then',
  },
  'ca-certificate-expiring': { result: 'warning', remedy: remedies.ca },
  'ca-missing': {
    result: 'warning',
    remedy: `put the certificate of the CA into spec.clientConfig.caBundle, or name its Secret in the annotation ${injectCaFromSecretAnnotation}`,
  },
};

function ruleFindings({ config, answer }: AskedExtension, { to, now }: Upgrade): Finding[] {
  // When the managers restart, the discovered handlers replace the registered ones.
  const { discovered } = answer;
  const isRefused = discovered.ok === false && discovered.problems.length > 0;
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
  return reports.flatMap(({ rule, field, value, message }): Finding[] => {
    const { isOfHook, ...relevant } = relevantRules[rule.id] ?? { isOfHook: undefined };
    const shown = value === undefined ? '' : ` ${JSON.stringify(quotable(String(value), 100))}`;
    return 'result' in relevant && !(isOfHook && isRefused)
      ? [{ ...relevant, message: quotable(`${field}:${shown} ${message}`) }]
      : [];
  });
}

/** Evaluates the response to Discovery by the rules of the target release. */
function* discoveryFindings({ answer, config }: AskedExtension, upgrade: Upgrade): Findings {
  const { discovered } = answer;
  if (discovered.ok) {
    return;
  }
  const { error, problems } = discovered;
  for (const { message, remedy } of problems) {
    yield {
      result: 'failed',
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
    const remedy = 'let the user of the kubeconfig run kubectl port-forward, or reach the Service with --resolve';
    yield { result: 'failed', message, remedy };
    return;
  }
  const message = `does not answer now: ${error.message.replace(/^failed to discover extension "[^"]{0,253}": (?:http call failed: Post "[^"]{0,2000}": )?/, '')}`;
  yield { result: 'failed', message, remedy: unreachableRemedy };
}

const unreachableRemedy =
  'repair it or delete the ExtensionConfig before the upgrade: the upgrade restarts the managers, and a manager that cannot discover every extension within a minute exits, again and again';

function* certificateFindings({ answer }: AskedExtension, { now }: Upgrade): Findings {
  const finding = answer.tls && certificateDateFinding(answer.tls, now);
  if (finding !== undefined) {
    const remedy = 'renew it before the upgrade: restarted managers discover every extension again';
    yield { result: results[finding.severity], message: finding.message, remedy };
  }
}

function* caFindings({ config }: AskedExtension): Findings {
  const isInjected = config.metadata.annotations?.[injectCaFromSecretAnnotation] !== undefined;
  if (!isInjected || config.spec?.clientConfig?.caBundle) {
    return;
  }
  const message =
    'has no caBundle although an annotation requests its injection: the Secret or its key ca.crt is missing';
  const remedy =
    'create the Secret that the annotation names: without it, a restarted manager cannot discover the extension';
  yield { result: 'failed', message, remedy };
}

function* apiVersionFindings({ original }: AskedExtension, { to }: Upgrade): Findings {
  const remedy = `convert the manifest to ${group}/${hubVersion}: "convert --to ${hubVersion} --write FILE"`;
  for (const { apiVersion, by } of olderVersionsOf(original)) {
    const lifespan = hookCatalog.find(group, apiVersion.slice(group.length + 1), kind);
    const phase = lifespan === undefined ? 'removed' : phaseIn(lifespan, to);
    const message = `${quotable(by, 60)} writes it as ${quotable(apiVersion, 60)}`;
    if (phase === 'removed') {
      yield { result: 'failed', message: `${message}, which ${formatRelease(to)} does not have`, remedy };
    } else if (phase === 'deprecated') {
      yield { result: 'warning', message: `${message}, which is deprecated`, remedy };
    }
  }
}

/** Handlers that will appear or disappear with the next discovery, which the upgrade triggers. */
function* handlerFindings({ config, answer }: AskedExtension): Findings {
  const { discovered } = answer;
  if (discovered.ok !== true) {
    return;
  }
  const offered = new Set(discovered.handlers.map(({ name }) => name));
  const gone = (config.status?.handlers ?? []).map(({ name = '' }) => name).filter((name) => !offered.has(name));
  if (gone.length > 0) {
    const message = `no longer offers ${quotable(gone.slice(0, 10).join(', '), 300)}, which is registered`;
    const remedy = 'check whether a ClusterClass names it: its Clusters stop reconciling when the managers restart';
    yield { result: 'warning', message, remedy };
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

const hooksOf = ({ config, answer: { discovered } }: AskedExtension): ReadonlySet<string> => {
  const offered = discovered.ok === true ? discovered.handlers : (config.status?.handlers ?? []);
  return new Set(offered.flatMap(({ requestHook }) => requestHook?.hook || []));
};

/** Where the running release can be read. */
const readable = 'let the user of the kubeconfig list providers.clusterctl.cluster.x-k8s.io, or Deployments';

/** Findings that concern no single extension. */
function* sharedFindings({ from, to }: Upgrade, before: Release, extensions: readonly AskedExtension[]): Findings {
  if (from === undefined) {
    const message = `the running release is unknown; only what changed since ${formatRelease(before)} is listed`;
    yield { result: 'failed', message, remedy: readable };
  } else if (compareReleases(to, from) < 0) {
    yield {
      result: 'warning',
      message: `${formatRelease(to)} is older than ${formatRelease(from)}, which is running: downgrades are not checked`,
      remedy: 'first roll back extensions that offer hooks unknown to the older release',
    };
  }
  for (const hook of exclusiveHooks) {
    const names = extensions.filter((one) => hooksOf(one).has(hook)).map(({ config }) => config.metadata.name ?? '');
    if (names.length > 1) {
      yield {
        result: 'warning',
        message: `${names.slice(0, 10).join(' and ')} serve ${hook}: where their namespaceSelectors overlap all in-place decisions fail`,
        remedy: 'let only one extension serve it',
      };
    }
  }
}

function* findingsOf(extension: AskedExtension, upgrade: Upgrade, before: Release): Findings {
  const hooks = hooksOf(extension);
  yield* discoveryFindings(extension, upgrade);
  yield* ruleFindings(extension, upgrade);
  yield* caFindings(extension);
  yield* certificateFindings(extension, upgrade);
  yield* apiVersionFindings(extension, upgrade);
  yield* handlerFindings(extension);
  for (const { release, isBreaking, text, remedy } of wireChangesBetween(before, upgrade.to, hooks)) {
    yield {
      result: isBreaking && hooks.size > 0 ? 'warning' : 'note',
      message: `${formatRelease(release)}: ${text}`,
      ...(remedy !== undefined && { remedy }),
    };
  }
}

const order: readonly Tick['result'][] = ['failed', 'warning', 'note', 'ok', 'skipped'];

const maxNames = 5;

/**
 * The obstacles to an upgrade of Cluster API, each once for all extensions that it concerns, the worst first.
 * Pure: all facts are passed in.
 */
export function upgradeTicks(extensions: readonly AskedExtension[], upgrade: Upgrade): Tick[] {
  const { from, to } = upgrade;
  const check = 'upgrade';
  const before = from ?? { ...to, minor: Math.max(0, to.minor - 1) };
  const names = new Map<string, string[]>();
  for (const extension of extensions) {
    for (const finding of findingsOf(extension, upgrade, before)) {
      const key = JSON.stringify(finding);
      names.set(key, [...(names.get(key) ?? []), extension.config.metadata.name ?? '']);
    }
  }
  const isAll = (list: readonly string[]) => list.length > 1 && list.length === extensions.length;
  const ticks = [
    ...(extensions.length === 0 ? [] : sharedFindings(upgrade, before, extensions)),
    ...[...names].map(([key, list]): Finding => {
      const finding = JSON.parse(key) as Finding;
      const who = isAll(list) ? 'all extensions' : shortList(list, maxNames);
      return { ...finding, message: `${who}: ${finding.message}` };
    }),
  ].map((finding): Tick => ({ check, ...finding }));
  return ticks.some(({ result }) => result === 'failed')
    ? ticks.toSorted((a, b) => order.indexOf(a.result) - order.indexOf(b.result))
    : [
        ok(check, `nothing is in the way of ${formatRelease(to)} for ${count(extensions.length, 'extension')}`),
        ...ticks.toSorted((a, b) => order.indexOf(a.result) - order.indexOf(b.result)),
      ];
}
