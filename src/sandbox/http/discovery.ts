import type { JsonObject } from '../../kubernetes/index.ts';
import type { Aggregator, Remote } from '../aggregation/aggregator.ts';
import { compareVersions, type Registry } from '../resources/registry.ts';
import { apiVersionOf, type Resource, verbs } from '../resources/resource.ts';

const statusVerbs = ['get', 'patch', 'update'];

/** A resource in an APIGroupDiscoveryList. */
function aggregatedResource(resource: Resource) {
  const { group, version, kind, plural, singular, namespaced, shortNames, categories, hasStatus } = resource;
  const responseKind = { group, version, kind };
  return {
    resource: plural,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: [...verbs],
    ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
    ...(categories.length > 0 ? { categories: [...categories] } : {}),
    ...(hasStatus ? { subresources: [{ subresource: 'status', responseKind, verbs: statusVerbs }] } : {}),
  };
}

/** A resource and its subresources in an APIResourceList. */
function resourceEntries(resource: Resource): JsonObject[] {
  const { namespaced } = resource;
  const {
    resource: name,
    responseKind,
    scope: _,
    singularResource,
    subresources = [],
    ...lists
  } = aggregatedResource(resource);
  return [
    { name, singularName: singularResource, namespaced, kind: responseKind.kind, ...lists },
    ...subresources.map(({ subresource, responseKind, verbs }) => ({
      name: `${name}/${subresource}`,
      singularName: '',
      namespaced,
      kind: responseKind.kind,
      verbs,
    })),
  ];
}

/** `GET /api/v1` or `/apis/GROUP/VERSION`: an APIResourceList, or undefined if it is not served. */
export function resourceList(registry: Registry, group: string, version: string): JsonObject | undefined {
  const resources = registry.of(group, version);
  if (resources.length === 0) {
    return undefined;
  }
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: resources.flatMap(resourceEntries),
  };
}

function groupEntry(group: string, versions: readonly ServedVersion[]): JsonObject {
  const entries = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] as JsonObject };
}

/** A version that is served by this server or by an aggregated one. */
interface ServedVersion {
  group: string;
  version: string;
  remote: Remote | undefined;
}

/** Everything that is served, here and by aggregated servers: each group with its versions, the preferred one first. */
function servedGroups(registry: Registry, aggregator: Aggregator): [group: string, versions: ServedVersion[]][] {
  const own = [...registry.groups()].flatMap(([group, versions]) =>
    versions.map((version): ServedVersion => ({ group, version, remote: undefined })),
  );
  const others = aggregator.all().map((remote): ServedVersion => {
    const { group = '', version } = remote.apiService.spec;
    return { group, version, remote };
  });
  // Versions of this server get the priority that a kube-apiserver gives to definitions.
  const priorityOf = ({ remote }: ServedVersion) => remote?.apiService.spec.versionPriority ?? 100;
  const all = [...own, ...others].sort(
    (a, b) => priorityOf(b) - priorityOf(a) || compareVersions(a.version, b.version),
  );
  return [...Map.groupBy(all, ({ group }) => group)].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** `GET /apis/GROUP`: an APIGroup, or undefined if it is not served. */
export function groupDocument(registry: Registry, aggregator: Aggregator, group: string): JsonObject | undefined {
  const entry = servedGroups(registry, aggregator).find(([name]) => name === group && name !== '');
  return entry && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(...entry) };
}

/** `GET /apis`: an APIGroupList. */
export function groupList(registry: Registry, aggregator: Aggregator): JsonObject {
  const groups = servedGroups(registry, aggregator).filter(([group]) => group !== '');
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.map(([group, versions]) => groupEntry(group, versions)),
  };
}

/** `GET /api`: an APIVersions. */
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
      versions: versions.map(({ version, remote }) => ({
        version,
        freshness: remote === undefined || remote.isAvailable ? 'Current' : 'Stale',
        resources: remote === undefined ? registry.of(group, version).map(aggregatedResource) : [...remote.resources],
      })),
    })),
  };
}
