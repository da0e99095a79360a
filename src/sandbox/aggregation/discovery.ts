import { isJsonObject, type Json, type JsonObject, parseJson } from '../../kubernetes/index.ts';
import type { ApiService } from '../kinds/index.ts';
import { aggregator, pathOf } from './availability.ts';
import type { Backend } from './backend.ts';

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const accept = `${aggregatedType},${aggregatedType.replace('v=v2', 'v=v2beta1')}`;
/** Most bytes of a discovery document, and most resources of a version: Kubernetes itself has some dozens. */
const maxBytes = 2 * 1024 * 1024;
const maxResources = 1000;

function listOf(value: Json | undefined): JsonObject[] {
  return (Array.isArray(value) ? value : []).filter(isJsonObject).slice(0, maxResources);
}

/** The resources of a group and version out of an APIGroupDiscoveryList; undefined when it is not in it. */
function fromAggregated(document: Json, { spec }: ApiService): JsonObject[] | undefined {
  const groups = isJsonObject(document) ? listOf(document.items) : [];
  const group = groups.find(({ metadata }) => isJsonObject(metadata) && (metadata.name ?? '') === (spec.group ?? ''));
  const version = listOf(group?.versions).find((entry) => entry.version === spec.version);
  return version === undefined ? undefined : listOf(version.resources);
}

/** An APIResourceList in the aggregated form: subresources stand below their resources there. */
function fromList(document: Json, { spec }: ApiService): JsonObject[] {
  const all = isJsonObject(document) ? listOf(document.resources) : [];
  const own = { group: spec.group ?? '', version: spec.version };
  const kindOf = ({ group, version, kind }: JsonObject): JsonObject => ({
    group: group || own.group,
    version: version || own.version,
    kind: kind ?? '',
  });
  const resources = new Map<string, JsonObject>();
  for (const entry of all) {
    const [resource = '', subresource] = String(entry.name).split('/', 2);
    if (subresource === undefined) {
      resources.set(resource, {
        resource,
        responseKind: kindOf(entry),
        scope: entry.namespaced === true ? 'Namespaced' : 'Cluster',
        singularResource: entry.singularName ?? '',
        verbs: entry.verbs ?? [],
        ...(Array.isArray(entry.shortNames) ? { shortNames: entry.shortNames } : {}),
        ...(Array.isArray(entry.categories) ? { categories: entry.categories } : {}),
      });
    }
  }
  for (const entry of all) {
    const [name = '', subresource] = String(entry.name).split('/', 2);
    const resource = resources.get(name);
    if (subresource !== undefined && resource !== undefined) {
      const known = Array.isArray(resource.subresources) ? resource.subresources : [];
      known.push({ subresource, responseKind: kindOf(entry), verbs: entry.verbs ?? [] });
      resource.subresources = known;
    }
  }
  return [...resources.values()];
}

/**
 * The resources of an APIService, as items of aggregated discovery: from the aggregated form of the server, else from its
 * plain list.
 *
 * @throws when the server gives neither.
 */
export async function readResources(
  apiService: ApiService,
  backend: Backend,
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const { status, headers, body } = await backend.get('/apis', aggregator, { accept }, maxBytes, signal);
  if (status === 200 && headers['content-type']?.includes('as=APIGroupDiscoveryList')) {
    const resources = fromAggregated(parseJson(body), apiService);
    if (resources !== undefined) {
      return resources;
    }
  }
  const user = { ...aggregator, groups: [] };
  const list = await backend.get(pathOf(apiService), user, { accept: 'application/json' }, maxBytes, signal);
  if (list.status !== 200) {
    throw new Error(`GET ${pathOf(apiService)} was answered with ${list.status}`);
  }
  return fromList(parseJson(list.body), apiService);
}
