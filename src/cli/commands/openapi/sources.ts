import type { Readable } from 'node:stream';
import { eachOf, printable } from '../../../base/index.ts';
import {
  connect,
  explain,
  isStatus,
  type KubernetesClient,
  loadKubeConfig,
  shortRetries,
  withRemedy,
} from '../../../kubernetes/client/index.ts';
import { JsonError, type JsonObject } from '../../../kubernetes/index.ts';
import { readManifests } from '../../../kubernetes/manifests/index.ts';
import {
  type DocumentPlace,
  documentList,
  InvalidOpenApi,
  type NamedDocument,
  openApiOf,
  readOpenApi,
} from '../../../kubernetes/openapi/index.ts';
import { FailureError, type Io, UsageError } from '../../framework/program.ts';

const mebibyte = 1024 * 1024;
const maxTotalBytes = 512 * mebibyte;
const requestsAtOnce = 10;

/** The documents to merge, within the limits, and problems with fetching them. */
export class Collection {
  documents: NamedDocument[] = [];
  /** Documents that a server lists but does not serve, with the reason. */
  missing: { document: string; reason: string }[] = [];
  /** Names of documents that were converted from OpenAPI v2. */
  converted: string[] = [];
  #bytes = 0;

  count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > maxTotalBytes) {
      throw new FailureError(
        `all documents together have more than ${maxTotalBytes / mebibyte} MiB; merge some of them`,
      );
    }
  }

  add(name: string, { document, isConverted }: { document: JsonObject; isConverted: boolean }): void {
    this.documents.push({ name, document });
    if (isConverted) {
      this.converted.push(name);
    }
  }
}

/** One document of a server. */
async function oneDocument(
  cluster: KubernetesClient,
  { path }: DocumentPlace,
  collection: Collection,
): Promise<{ document: JsonObject; isConverted: boolean }> {
  const value = await cluster.request('GET', path).catch((error: unknown) => {
    // The document has changed since it was listed: the server redirects to the new hash.
    if (!isStatus(error, 301)) {
      throw error;
    }
    return cluster.request('GET', path.split('?')[0] as string);
  });
  collection.count(JSON.stringify(value).length);
  return openApiOf(value);
}

/** All documents that the API server lists. Those that it does not serve are reported as missing. */
async function fromCluster(
  flags: { kubeconfig: string | undefined; context: string | undefined },
  io: Io,
  collection: Collection,
): Promise<void> {
  const config = await loadKubeConfig(flags, io.env).catch((error: Error) => {
    throw new UsageError(`openapi merge: no API server: ${error.message}; or name files`);
  });
  const cluster = connect(config, io.signal, shortRetries);
  const name = config.getCurrentCluster()?.server ?? '';
  let list: JsonObject;
  try {
    list = await cluster.request('GET', '/openapi/v3');
  } catch (error) {
    io.signal.throwIfAborted();
    if (isStatus(error, 404)) {
      throw new FailureError(
        `the API server does not publish OpenAPI v3, which Kubernetes has had since 1.24: ${error.message}`,
      );
    }
    throw new FailureError(withRemedy(explain(error, 'get', 'the URL', '/openapi/v3') as Error));
  }
  const places = documentList(list);
  if (places === undefined) {
    throw new FailureError(`${printable(name)}/openapi/v3 is not a list of documents`);
  }
  const results = await eachOf(places, requestsAtOnce, async (place) => {
    try {
      return { place, result: await oneDocument(cluster, place, collection) };
    } catch (error) {
      io.signal.throwIfAborted();
      // Beyond a limit: merging only a part would be misleading.
      if (error instanceof FailureError) {
        throw error;
      }
      return { place, problem: error as Error };
    }
  });
  for (const { place, result, problem } of results) {
    if (result === undefined) {
      collection.missing.push({ document: place.name, reason: problem.message });
    } else {
      collection.add(place.name, result);
    }
  }
  collection.missing.sort((a, b) => (a.document < b.document ? -1 : 1));
}

async function fromFiles(path: string, { stdin, signal }: Io, collection: Collection): Promise<void> {
  let count = 0;
  for await (const source of readManifests([path], stdin as Readable, signal)) {
    const problem = (message: string) => new UsageError(`openapi merge: ${printable(source.file)} ${message}`);
    if ('message' in source) {
      throw problem(source.message);
    }
    count++;
    try {
      const bytes = Buffer.from(source.text.replace(/^\ufeff/, ''));
      collection.count(bytes.length);
      collection.add(source.file, readOpenApi(bytes));
    } catch (error) {
      throw error instanceof InvalidOpenApi || error instanceof JsonError ? problem(error.message) : error;
    }
  }
  signal.throwIfAborted();
  if (count === 0) {
    throw new UsageError(`openapi merge: ${printable(path)} has no *.yaml, *.yml or *.json in it`);
  }
}

/** The documents in files, and of the API server, without any or if a flag selects it. */
export async function gather(
  paths: readonly string[],
  flags: { kubeconfig: string | undefined; context: string | undefined },
  io: Io,
): Promise<Collection> {
  const collection = new Collection();
  if (paths.length === 0 || flags.kubeconfig !== undefined || flags.context !== undefined) {
    await fromCluster(flags, io, collection);
  }
  for (const path of paths) {
    await fromFiles(path, io, collection);
  }
  return collection;
}
