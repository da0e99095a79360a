import { count, shortList } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import {
  addressOf,
  type DiscoverResult,
  extensionOf,
  isCallError,
  phaseOf,
  type Resolve,
} from '../../runtimehooks/client/index.ts';
import {
  clusterApiHooks,
  compareReleases,
  formatRelease,
  generalChanges,
  type Release,
  type ReleaseChange,
} from '../../runtimehooks/index.ts';
import { ok, type Tick } from './tick.ts';

/** An extension of a cluster, and what its server answers by the rules of the target release. */
export interface AskedExtension {
  config: ExtensionConfig;
  discovered: DiscoverResult;
}

export interface Upgrade {
  from: Release | undefined;
  to: Release;
  resolve?: Resolve | undefined;
}

type Finding = Omit<Tick, 'check'>;
type Findings = Generator<Finding>;

const unknownRemedy =
  'install a release of the extension without this handler before the upgrade, or choose a target that knows the hook';

function* discoveryFindings({ discovered, config }: AskedExtension, upgrade: Upgrade): Findings {
  if (discovered.ok) {
    return;
  }
  const { error, problems } = discovered;
  for (const { message, remedy } of problems) {
    yield {
      result: 'failed',
      message: `${formatRelease(upgrade.to)} refuses the extension as a whole: ${message}`,
      remedy: message.endsWith('is not in the Runtime SDK catalog') ? unknownRemedy : remedy,
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

/** The changes of calls that affect the given hooks when one release replaces another, oldest first. */
function wireChangesBetween(from: Release, to: Release, called: ReadonlySet<string>): ReleaseChange[] {
  const ofHooks = clusterApiHooks.filter(({ name }) => called.has(name)).flatMap(({ changes }) => changes);
  // Hooks share theirs.
  return [...new Set([...generalChanges, ...ofHooks])]
    .filter(({ release }) => compareReleases(release, from) > 0 && compareReleases(release, to) <= 0)
    .sort((a, b) => compareReleases(a.release, b.release));
}

const hooksOf = ({ config, discovered }: AskedExtension): ReadonlySet<string> => {
  const offered = discovered.ok === true ? discovered.handlers : (config.status?.handlers ?? []);
  return new Set(offered.flatMap(({ requestHook }) => requestHook?.hook || []));
};

const readable = 'let the user of the kubeconfig list providers.clusterctl.cluster.x-k8s.io, or Deployments';

function* sharedFindings({ from, to }: Upgrade, before: Release): Findings {
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
}

function* findingsOf(extension: AskedExtension, upgrade: Upgrade, before: Release): Findings {
  const hooks = hooksOf(extension);
  yield* discoveryFindings(extension, upgrade);
  for (const { requestHook } of extension.discovered.handlers) {
    if (phaseOf(requestHook, { release: upgrade.to }) === 'deprecated') {
      const message = `serves ${requestHook.hook} of ${requestHook.apiVersion}, which is deprecated`;
      yield { result: 'warning', message, remedy: 'serve the version that replaces it while both exist' };
    }
  }
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

/** The obstacles to an upgrade of Cluster API, each once for all extensions that it concerns, the worst first. */
export function upgradeTicks(extensions: readonly AskedExtension[], upgrade: Upgrade): Tick[] {
  const { from, to } = upgrade;
  const check = 'upgrade';
  const before = from ?? { ...to, minor: Math.max(0, to.minor - 1) };
  const found = extensions.flatMap((extension) =>
    [...findingsOf(extension, upgrade, before)].map((finding) => ({ finding, extension })),
  );
  const ofExtensions = [...Map.groupBy(found, ({ finding }) => JSON.stringify(finding)).values()].map(
    (same): Finding => {
      const { finding } = same[0] as (typeof found)[number];
      const names = same.map(({ extension }) => extension.config.metadata.name ?? '');
      const who = same.length > 1 && same.length === extensions.length ? 'all extensions' : shortList(names, maxNames);
      return { ...finding, message: `${who}: ${finding.message}` };
    },
  );
  const ticks = [...(extensions.length === 0 ? [] : sharedFindings(upgrade, before)), ...ofExtensions]
    .map((finding): Tick => ({ check, ...finding }))
    .sort((a, b) => order.indexOf(a.result) - order.indexOf(b.result));
  const well = ok(check, `nothing is in the way of ${formatRelease(to)} for ${count(extensions.length, 'extension')}`);
  return ticks.some(({ result }) => result === 'failed') ? ticks : [well, ...ticks];
}
