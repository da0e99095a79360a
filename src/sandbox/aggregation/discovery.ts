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

/** A list field, omitted if empty. */
function optional(field: string, items: readonly Json[]): JsonObject {
  return items.length === 0 ? {} : { [field]: [...items] };
}

function kindOf({ group, version, kind }: JsonObject, own: ApiService['spec']): JsonObject {
  return {
    group: textAt(group) || (own.group ?? ''),
    version: textAt(version) || own.version,
    kind: textAt(kind),
  };
}

/** A subresource as in aggregated discovery; undefined if it has no name. */
function subresourceOf(
  { subresource, responseKind, verbs }: JsonObject,
  own: ApiService['spec'],
): JsonObject | undefined {
  return textAt(subresource) === ''
    ? undefined
    : {
        subresource: textAt(subresource),
        ...(isJsonObject(responseKind) ? { responseKind: kindOf(responseKind, own) } : {}),
        verbs: textsOf(verbs),
      };
}

/**
 * A resource as in aggregated discovery; undefined if it has no name. Every value is checked, because one of an
 * unexpected type would keep clients from reading the resources of all servers.
 */
function resourceOf(entry: JsonObject, own: ApiService['spec']): JsonObject | undefined {
  const { resource, responseKind, scope, singularResource, verbs, shortNames, categories, subresources } = entry;
  if (textAt(resource) === '') {
    return undefined;
  }
  const known = listOf(subresources)
    .map((item) => subresourceOf(item, own))
    .filter((item) => item !== undefined);
  return {
    resource: textAt(resource),
    ...(isJsonObject(responseKind) ? { responseKind: kindOf(responseKind, own) } : {}),
    scope: scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    singularResource: textAt(singularResource),
    verbs: textsOf(verbs),
    ...optional('shortNames', textsOf(shortNames)),
    ...optional('categories', textsOf(categories)),
    ...optional('subresources', known),
  };
}

/** The resources of a group and version in an APIGroupDiscoveryList; undefined if it is not included. */
function fromAggregated(document: Json, { spec }: ApiService): JsonObject[] | undefined {
  const groups = isJsonObject(document) ? listOf(document.items) : [];
  const group = groups.find(({ metadata }) => isJsonObject(metadata) && (metadata.name ?? '') === (spec.group ?? ''));
  const version = listOf(group?.versions).find((entry) => entry.version === spec.version);
  return version === undefined
    ? undefined
    : listOf(version.resources)
        .map((entry) => resourceOf(entry, spec))
        .filter((entry) => entry !== undefined);
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
  const made = [...resources].map(([resource, { entry, subresources }]) => {
    const { namespaced, singularName, verbs, shortNames, categories } = entry;
    const scope = namespaced === true ? 'Namespaced' : 'Cluster';
    const aggregated = { resource, responseKind: entry, scope, singularResource: singularName ?? '', subresources };
    const lists = { verbs: verbs ?? [], shortNames: shortNames ?? [], categories: categories ?? [] };
    return resourceOf({ ...aggregated, ...lists }, spec);
  });
  return made.filter((entry) => entry !== undefined);
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
