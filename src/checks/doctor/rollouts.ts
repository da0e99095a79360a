import { compareReleases, formatRelease, isFixedIn, type Release, v1 } from '../../runtimehooks/index.ts';
import type { Tick } from './tick.ts';

/** An upgrade of Cluster API or of a provider of which it is known that it replaces Machines though no object changes. */
interface KnownRollout {
  provider: string;
  /** Older releases are concerned when they are upgraded to it, or past it. */
  since: Release;
  /** The patch releases that do it no more. */
  fixed?: readonly Required<Release>[];
  text: string;
  remedy: string;
  source: string;
}

const clusterApi = 'cluster-api';
const v = (major: number, minor: number): Release => ({ major, minor });

const knownRollouts: readonly KnownRollout[] = [
  {
    provider: clusterApi,
    since: v1(11),
    fixed: [{ ...v1(11), patch: 4 }],
    text: 'v1.11.0 to v1.11.3 replace Machines of control planes that set apiServer.timeoutForControlPlane',
    remedy: 'upgrade to v1.11.4 or later',
    source: 'cluster-api 13017',
  },
  {
    provider: clusterApi,
    since: v1(12),
    fixed: [
      { ...v1(13), patch: 6 },
      { ...v1(14), patch: 1 },
    ],
    text: 'v1.12.0 to v1.13.5, and v1.14.0, replace Machines of control planes whose KubeadmConfigs lack joinConfiguration.controlPlane',
    remedy: 'upgrade to v1.13.6, v1.14.1 or later; plan --to-cluster-api-version says which Machines these are',
    source: 'cluster-api 14167',
  },
  {
    provider: 'rke2',
    since: v(0, 12),
    text: 'v0.12.0 to v0.15.0 replace Machines of control planes whose machineTemplate is not migrated yet',
    remedy: 'upgrade to v0.15.1 or later, or pause the Clusters meanwhile',
    source: 'cluster-api-provider-rke2 596',
  },
  {
    provider: 'rke2',
    since: v(0, 25),
    text: 'v0.25.0 replaces Machines of control planes whose spec.version has no suffix +rke2rN',
    remedy: 'expect it; plan names these Machines as not known',
    source: 'UpToDate in pkg/rke2/control_plane.go',
  },
  {
    provider: 'k0sproject-k0smotron',
    since: v(1, 5),
    text: 'v1.5.3 begins to replace Machines for changes of a K0sControlPlane, and did so for existing ones, too',
    remedy: 'pause the Clusters, and resume them one after the other',
    source: 'k0smotron 1025',
  },
  {
    provider: 'k0sproject-k0smotron',
    since: v(2, 0),
    text: 'v2.0.0 replaces all Machines of control planes',
    remedy: 'upgrade to v2.0.1 or later',
    source: 'k0smotron 1478',
  },
  {
    provider: 'talos',
    since: v(0, 5),
    text: 'v0.5.0 begins to replace Machines for changes of controlPlaneConfig, also for earlier ones',
    remedy: 'expect it for Machines that are older than the last change',
    source: 'cluster-api-control-plane-provider-talos 154',
  },
];

/** Upgrades that are known to replace Machines: of Cluster API, and of installed providers, whose targets are not known. */
export function rolloutTicks(installed: ReadonlyMap<string, Release>, from: Release | undefined, to: Release): Tick[] {
  return knownRollouts.flatMap(({ provider, since, fixed = [], text, remedy, source }): Tick[] => {
    const isClusterApi = provider === clusterApi;
    const release = isClusterApi ? from : installed.get(provider);
    if (release === undefined || compareReleases(release, since) >= 0) {
      return [];
    }
    if (isClusterApi && (compareReleases(to, since) < 0 || isFixedIn(to, fixed))) {
      return [];
    }
    const who = isClusterApi ? '' : `${provider} ${formatRelease(release)} is installed: `;
    const message = `${who}${text} (${source})`;
    return [{ check: 'upgrade', result: isClusterApi ? 'warning' : 'note', message, remedy }];
  });
}
