import { itemsAt, type Json, type JsonObject, objectsAt, parseJson, textAt } from '../../kubernetes/index.ts';
import { aggregator } from './availability.ts';
import type { Backend } from './backend.ts';

/**
 * Maximum number of bytes of a discovery document, and of resources in a version: Kubernetes' own versions have some
 * dozens.
 */
const maxBytes = 2 * 1024 * 1024;
const maxResources = 1000;

function textsOf(value: Json | undefined): string[] {
  return itemsAt(value).filter((item) => typeof item === 'string');
}

/**
 * The resources in an APIResourceList as items of aggregated discovery, in which subresources are nested. Every value is
 * checked, because one of an unexpected type would keep clients from reading the resources of all servers.
 */
function resourcesOf(document: Json, { spec }: Backend): JsonObject[] {
  const entries = objectsAt(document, 'resources').slice(0, maxResources);
  const subresources = Map.groupBy(entries, ({ name }) => /^(.*?)\/./.exec(textAt(name))?.[1]);
  const kindAndVerbs = ({ group, version, kind, verbs }: JsonObject) => ({
    responseKind: {
      group: textAt(group) || (spec.group ?? ''),
      version: textAt(version) || spec.version,
      kind: textAt(kind),
    },
    verbs: textsOf(verbs),
  });
  return entries
    .filter(({ name }) => /^[^/]+$/.test(textAt(name)))
    .map((entry) => {
      const resource = textAt(entry.name);
      const lists = {
        shortNames: textsOf(entry.shortNames),
        categories: textsOf(entry.categories),
        subresources: (subresources.get(resource) ?? []).map((item) => ({
          subresource: textAt(item.name).split('/')[1] ?? '',
          ...kindAndVerbs(item),
        })),
      };
      return {
        resource,
        scope: entry.namespaced === true ? 'Namespaced' : 'Cluster',
        singularResource: textAt(entry.singularName),
        ...kindAndVerbs(entry),
        ...Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0)),
      };
    });
}

/**
 * The resources of an APIService, as items of aggregated discovery. The server's plain list is read, which all have.
 *
 * @throws when the server has none.
 */
export async function readResources(backend: Backend, signal: AbortSignal): Promise<JsonObject[]> {
  const { path } = backend;
  const user = { ...aggregator, groups: [] };
  const { status, body } = await backend.get(path, user, { accept: 'application/json' }, maxBytes, signal);
  if (status !== 200) {
    throw new Error(`GET ${path} was answered with ${status}`);
  }
  return resourcesOf(parseJson(body), backend);
}
