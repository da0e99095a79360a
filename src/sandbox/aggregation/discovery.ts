import {
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  objectsAt,
  parseJson,
  textAt,
} from '../../kubernetes/index.ts';
import type { ApiService } from '../kinds/api-service.ts';
import { aggregator, pathOf } from './availability.ts';
import type { Backend } from './backend.ts';

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const accept = `${aggregatedType},${aggregatedType.replace('v=v2', 'v=v2beta1')}`;
/**
 * Maximum number of bytes of a discovery document, and of resources in a version: Kubernetes' own versions have some
 * dozens.
 */
const maxBytes = 2 * 1024 * 1024;
const maxResources = 1000;

function listOf(value: Json | undefined): JsonObject[] {
  return objectsAt(value).slice(0, maxResources);
}

function textsOf(value: Json | undefined): string[] {
  return itemsAt(value).filter((item) => typeof item === 'string');
}

/** The kind and the verbs of a resource or subresource. */
function kindAndVerbsOf({ responseKind, verbs }: JsonObject, own: ApiService['spec']): JsonObject {
  if (!isJsonObject(responseKind)) {
    return { verbs: textsOf(verbs) };
  }
  const [group, version] = [
    textAt(responseKind.group) || (own.group ?? ''),
    textAt(responseKind.version) || own.version,
  ];
  return { responseKind: { group, version, kind: textAt(responseKind.kind) }, verbs: textsOf(verbs) };
}

/**
 * Resources as in aggregated discovery, without those that have no name. Every value is checked, because one of an
 * unexpected type would keep clients from reading the resources of all servers.
 */
function resourcesOf(entries: Json | undefined, own: ApiService['spec']): JsonObject[] {
  return listOf(entries)
    .filter(({ resource }) => textAt(resource) !== '')
    .map((entry) => {
      const subresources = listOf(entry.subresources)
        .filter(({ subresource }) => textAt(subresource) !== '')
        .map((item) => ({ subresource: textAt(item.subresource), ...kindAndVerbsOf(item, own) }));
      const lists = { shortNames: textsOf(entry.shortNames), categories: textsOf(entry.categories), subresources };
      return {
        resource: textAt(entry.resource),
        scope: entry.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
        singularResource: textAt(entry.singularResource),
        ...kindAndVerbsOf(entry, own),
        ...Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0)),
      };
    });
}

/** The resources of a group and version in an APIGroupDiscoveryList; undefined if it is not included. */
function fromAggregated(document: Json, { spec }: ApiService): JsonObject[] | undefined {
  const groups = isJsonObject(document) ? listOf(document.items) : [];
  const group = groups.find(({ metadata }) => isJsonObject(metadata) && (metadata.name ?? '') === (spec.group ?? ''));
  const version = listOf(group?.versions).find((entry) => entry.version === spec.version);
  return version && resourcesOf(version.resources, spec);
}

/** Converts an APIResourceList to the aggregated form, in which subresources are nested in their resources. */
function fromList(document: Json, { spec }: ApiService): JsonObject[] {
  const all = isJsonObject(document) ? listOf(document.resources) : [];
  const resources = new Map<string, { entry: JsonObject; subresources: JsonObject[] }>();
  for (const entry of all) {
    const name = textAt(entry.name);
    if (!name.includes('/')) {
      resources.set(name, { entry, subresources: [] });
    }
  }
  for (const entry of all) {
    const [name = '', subresource] = textAt(entry.name).split('/', 2);
    if (subresource !== undefined) {
      resources.get(name)?.subresources.push({ subresource, responseKind: entry, verbs: entry.verbs ?? [] });
    }
  }
  const aggregated = [...resources].map(([resource, { entry, subresources }]) => {
    const { namespaced, singularName = '' } = entry;
    const scope = namespaced === true ? 'Namespaced' : 'Cluster';
    return { ...entry, resource, responseKind: entry, scope, singularResource: singularName, subresources };
  });
  return resourcesOf(aggregated, spec);
}

/**
 * The resources of an APIService, as items of aggregated discovery: read from the server's aggregated document, else
 * from its plain list.
 *
 * @throws when the server has neither.
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
