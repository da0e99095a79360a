import type { JsonObject } from '../../kubernetes/index.ts';
import type { Aggregator } from '../aggregation/aggregator.ts';
import type { Registry } from '../resources/registry.ts';
import { apiVersionOf, type Resource } from '../resources/resource.ts';

/** In the order of the real API server. */
const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const statusVerbs = ['get', 'patch', 'update'];

function aggregatedResource(resource: Resource) {
  const { group, version, kind, plural, singular, namespaced, shortNames, categories, hasStatus } = resource;
  const responseKind = { group, version, kind };
  return {
    resource: plural,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
    ...(categories.length > 0 ? { categories: [...categories] } : {}),
    ...(hasStatus ? { subresources: [{ subresource: 'status', responseKind, verbs: statusVerbs }] } : {}),
  };
}

/** `GET /api/v1` or `/apis/GROUP/VERSION`: an APIResourceList, or undefined if it is not served. */
export function resourceList(registry: Registry, group: string, version: string): JsonObject | undefined {
  const resources = registry.of(group, version).flatMap((resource) => {
    const { namespaced, kind } = resource;
    const { resource: name, singularResource: singularName, ...aggregated } = aggregatedResource(resource);
    const { responseKind: _kind, scope: _scope, subresources = [], ...lists } = aggregated;
    return [
      { name, singularName, namespaced, kind, ...lists },
      ...subresources.map(({ subresource, verbs }) => ({
        ...{ name: `${name}/${subresource}`, singularName: '', namespaced, kind, verbs },
      })),
    ];
  });
  const groupVersion = apiVersionOf({ group, version });
  return resources.length === 0 ? undefined : { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

/** How Kubernetes prefers a version: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name. */
function rankOf(version: string): number[] {
  const [, major, stage, minor = 0] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return major === undefined ? [-1] : [['alpha', 'beta', undefined].indexOf(stage), Number(major), Number(minor)];
}

function compareVersions(a: string, b: string): number {
  const ranks = rankOf(b);
  const difference = rankOf(a)
    .map((rank, index) => (ranks[index] ?? 0) - rank)
    .find((one) => one !== 0);
  return difference ?? (a < b ? -1 : 1);
}

interface ServedVersion {
  group: string;
  version: string;
  priority: number;
  isStale: boolean;
  /** In the form of aggregated discovery. */
  resources: readonly JsonObject[];
}

/** Everything that is served, here and by aggregated servers: each group with its versions, the preferred one first. */
function servedGroups(registry: Registry, aggregator: Aggregator): [group: string, versions: ServedVersion[]][] {
  const own = registry.versions().map(({ group, version }): ServedVersion => {
    const resources = registry.of(group, version).map(aggregatedResource);
    // The priority that a kube-apiserver gives to definitions.
    return { group, version, priority: 100, isStale: false, resources };
  });
  const others = aggregator.all().map(({ apiService: { spec }, isAvailable, resources }): ServedVersion => {
    const { group = '', version, versionPriority } = spec;
    return { group, version, priority: versionPriority, isStale: !isAvailable, resources };
  });
  const all = [...own, ...others].sort((a, b) => b.priority - a.priority || compareVersions(a.version, b.version));
  return [...Map.groupBy(all, ({ group }) => group)].sort(([a], [b]) => (a < b ? -1 : 1));
}

export function groupList(registry: Registry, aggregator: Aggregator) {
  const groups = servedGroups(registry, aggregator).filter(([group]) => group !== '');
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.map(([group, served]) => {
      const versions = served.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
      return { name: group, versions, preferredVersion: versions[0] as JsonObject };
    }),
  };
}

export function groupDocument(registry: Registry, aggregator: Aggregator, group: string): JsonObject | undefined {
  const entry = groupList(registry, aggregator).groups.find(({ name }) => name === group);
  return entry && { kind: 'APIGroup', apiVersion: 'v1', ...entry };
}

export function coreVersions(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `GET /api` or `/apis` as an APIGroupDiscoveryList of apidiscovery.k8s.io/v2: everything in one document. */
export function aggregatedDiscovery(registry: Registry, aggregator: Aggregator, core: boolean): JsonObject {
  const groups = servedGroups(registry, aggregator).filter(([group]) => (group === '') === core);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(([group, versions]) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map(({ version, isStale, resources }) => ({
        version,
        freshness: isStale ? 'Stale' : 'Current',
        resources: [...resources],
      })),
    })),
  };
}
