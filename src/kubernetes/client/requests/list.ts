import { isJsonObject, type JsonObject } from '../../objects/json/json.ts';
import { explain, type KubernetesClient } from './kubernetes-client.ts';
import { ResponseError, ResponseTooLong } from './transport.ts';

/** Number of objects on a first page; it is reduced if the page would exceed the limit of a response. */
const pageLength = 100;

interface ListOptions {
  /** Path of the collection, without a query. */
  path: string;
  /** Resource name in permissions: `extensionconfigs.runtime.cluster.x-k8s.io`. */
  resource: string;
  /** Label and field selectors, as query parameters. */
  query?: Readonly<Record<string, string>> | undefined;
  /** What it selects, in a message about a missing permission. Default: all. */
  name?: string | undefined;
  /** Maximum number of objects: endless continue tokens must not keep the program busy forever, or fill its memory. */
  maxObjects: number;
}

interface Page {
  items: JsonObject[];
  /** Version of the whole list, from which to watch. */
  resourceVersion: string;
}

/**
 * Lists a collection in pages. A page that is too large is requested again in smaller ones.
 *
 * @throws {ResponseError} for a response that is not a list, and for more than `maxObjects`.
 * @throws {StatusError} as `request`; 403 and 401 as {@link Forbidden}.
 */
export async function* listPages(cluster: KubernetesClient, options: ListOptions): AsyncGenerator<Page> {
  const { path, resource, query, name = '(all)', maxObjects } = options;
  let limit = pageLength;
  let token = '';
  let count = 0;
  let pages = 0;
  for (;;) {
    const parameters = new URLSearchParams({ ...query, limit: String(limit) });
    if (token !== '') {
      parameters.set('continue', token);
    }
    let list: JsonObject;
    try {
      list = await cluster.request('GET', `${path}?${parameters}`);
    } catch (error) {
      if (error instanceof ResponseTooLong && limit > 1) {
        limit = Math.ceil(limit / 10);
        continue;
      }
      throw explain(error, 'list', resource, name);
    }
    const { metadata, items } = list;
    if (!isJsonObject(metadata) || !(Array.isArray(items) || items === null)) {
      throw new ResponseError(`the API server's answer is not a list of ${resource}`);
    }
    const objects: JsonObject[] = [];
    for (const object of items ?? []) {
      if (!isJsonObject(object) || !isJsonObject(object.metadata) || typeof object.metadata.name !== 'string') {
        throw new ResponseError(`the API server listed an object that is not one of ${resource}`);
      }
      objects.push(object);
    }
    count += objects.length;
    pages++;
    if (pages > maxObjects + 1) {
      throw new ResponseError(`the API server keeps listing ${resource} in empty pages`);
    }
    if (count > maxObjects) {
      throw new ResponseError(`there are more than ${maxObjects} ${resource}: name them, or select by label`);
    }
    const { resourceVersion } = metadata;
    yield { items: objects, resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '' };
    token = typeof metadata.continue === 'string' ? metadata.continue : '';
    if (token === '') {
      return;
    }
  }
}
