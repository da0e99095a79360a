import type { Readable } from 'node:stream';
import { eachOf, printable, readLimited } from '../../../base/index.ts';
import {
  connect,
  explain,
  isStatus,
  loadKubeConfig,
  StatusError,
  shortRetries,
  withRemedy,
} from '../../../kubernetes/client/index.ts';
import { JsonError, type JsonObject, parseJson } from '../../../kubernetes/index.ts';
import { maxStreamBytes, readManifests } from '../../../kubernetes/manifests/index.ts';
import {
  type DocumentPlace,
  documentList,
  InvalidOpenApi,
  type NamedDocument,
  openApiOf,
  readOpenApi,
} from '../../../sandbox/openapi-documents/index.ts';
import { FailureError, type Io, UsageError } from '../../framework/program.ts';
import type { DocumentCache } from './cache.ts';

interface FetchContext {
  io: Pick<Io, 'stdin' | 'env'>;
  cache: DocumentCache | undefined;
  /** Aborted by the user or at the timeout. */
  signal: AbortSignal;
  onProgress(done: number, total: number): void;
}

const mebibyte = 1024 * 1024;
const maxTotalBytes = 512 * mebibyte;
const maxDocuments = 10_000;
const requestTimeoutMs = 30_000;
const requestsAtOnce = 10;

/** The input exceeds a limit: merging only a part of it would be misleading. */
class LimitError extends FailureError {}

/** The documents to merge, within the limits, and problems with fetching them. */
export class Collection {
  documents: NamedDocument[] = [];
  /** Number of documents that came from the cache. */
  cached = 0;
  /** Documents that a server lists but does not serve, with the reason. */
  missing: { document: string; reason: string }[] = [];
  /** Names of documents that were converted from OpenAPI v2. */
  converted: string[] = [];
  #bytes = 0;

  count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > maxTotalBytes) {
      throw new LimitError(`all documents together have more than ${maxTotalBytes / mebibyte} MiB; merge some of them`);
    }
  }

  add(name: string, { document, isConverted }: { document: JsonObject; isConverted: boolean }): void {
    if (this.documents.length >= maxDocuments) {
      throw new LimitError(`there are more than ${maxDocuments} documents; merge some of them`);
    }
    this.documents.push({ name, document });
    if (isConverted) {
      this.converted.push(name);
    }
  }
}

interface DocumentServer {
  /** Its name in messages, and in the keys of the cache. */
  name: string;
  /** @throws {StatusError} for any response but 200; other errors when it cannot be used. */
  get(path: string): Promise<JsonObject>;
}

/** A URL for messages, without parts that may be secret. */
function shown(url: URL): string {
  return printable(`${url.origin}${url.pathname}`);
}

/** The body of a response. @throws {StatusError} unless it is a 200; {FailureError} when it is too long, or fails. */
export async function fetchLimited(url: URL, stop: AbortSignal, maxBytes = maxStreamBytes): Promise<Buffer> {
  const tooLarge = () => new FailureError(`${shown(url)} is larger than ${maxBytes / mebibyte} MiB`);
  const signal = AbortSignal.any([stop, AbortSignal.timeout(requestTimeoutMs)]);
  try {
    const answer = await fetch(url, { signal, redirect: 'manual', headers: { accept: 'application/json, */*;q=0.5' } });
    if (answer.status !== 200) {
      const location = answer.headers.get('location');
      const where = location === null ? '' : ` (to ${printable(location.slice(0, 300))}, which is not followed)`;
      await answer.body?.cancel();
      throw new StatusError(answer.status, `${shown(url)} answered ${answer.status}${where}`);
    }
    if (Number(answer.headers.get('content-length')) > maxBytes) {
      await answer.body?.cancel();
      throw tooLarge();
    }
    const bytes = await readLimited((answer.body ?? []) as AsyncIterable<Uint8Array>, maxBytes);
    if (bytes === undefined) {
      throw tooLarge();
    }
    return bytes;
  } catch (error) {
    stop.throwIfAborted();
    if (error instanceof StatusError || error instanceof FailureError) {
      throw error;
    }
    const { cause, message } = error as { cause?: { code?: unknown; message?: unknown }; message: string };
    const code = typeof cause?.code === 'string' ? cause.code : undefined;
    const reason = code ?? (typeof cause?.message === 'string' ? cause.message.slice(0, 300) : message);
    const remedy = /CERT|ISSUER|SIGNATURE/.test(code ?? '')
      ? '; for an API server use --kubeconfig, for another CA set NODE_EXTRA_CA_CERTS'
      : '';
    throw new FailureError(
      signal.aborted
        ? `${shown(url)} did not answer within ${requestTimeoutMs / 1000} s`
        : `${shown(url)} cannot be fetched: ${printable(reason)}${remedy}`,
    );
  }
}

/** The list contains paths below the API server's root, which may itself be below a path: `/k8s/clusters/NAME`. */
function urlServer(list: URL, signal: AbortSignal): DocumentServer {
  const below = /^(.*)\/openapi\/v3\/?$/.exec(list.pathname)?.[1] ?? '';
  const name = `${list.origin}${below}`;
  return {
    name,
    get: async (path) => parseJson(await fetchLimited(new URL(`${name}${path}`), signal)) as JsonObject,
  };
}

/** One document of a server, from the cache if there is an entry with this hash. */
async function oneDocument(
  server: DocumentServer,
  place: DocumentPlace,
  { cache }: FetchContext,
  collection: Collection,
): Promise<{ document: JsonObject; isConverted: boolean }> {
  const key = `${server.name}\n${place.path}`;
  const cached = place.hash === undefined ? undefined : await cache?.read(key);
  if (cached !== undefined) {
    try {
      const document = openApiOf(parseJson(cached));
      collection.count(cached.length);
      collection.cached++;
      return document;
    } catch (error) {
      if (!(error instanceof InvalidOpenApi || error instanceof JsonError)) {
        throw error;
      }
      // An older version of this program accepted the document, but this one does not: it is fetched again.
    }
  }
  let value: JsonObject;
  let isListed = place.hash !== undefined;
  try {
    value = await server.get(place.path);
  } catch (error) {
    // The document has changed since it was listed: the server redirects to the new hash.
    if (!isStatus(error, 301)) {
      throw error;
    }
    isListed = false;
    value = await server.get(place.path.split('?')[0] as string);
  }
  const text = JSON.stringify(value);
  collection.count(text.length);
  const document = openApiOf(value);
  if (isListed) {
    await cache?.write(key, Buffer.from(text));
  }
  return document;
}

/** All documents that a server lists. Those that it does not serve are reported as missing; the others are merged. */
async function fromList(
  server: DocumentServer,
  places: readonly DocumentPlace[],
  surroundings: FetchContext,
  collection: Collection,
): Promise<void> {
  if (places.length > maxDocuments) {
    throw new FailureError(`${server.name} lists more than ${maxDocuments} documents; merge some of them`);
  }
  let done = 0;
  const results = await eachOf(places, requestsAtOnce, async (place) => {
    try {
      return { place, result: await oneDocument(server, place, surroundings, collection) };
    } catch (error) {
      surroundings.signal.throwIfAborted();
      if (error instanceof LimitError) {
        throw error;
      }
      return { place, problem: error as Error };
    } finally {
      surroundings.onProgress(++done, places.length);
    }
  });
  for (const { place, result, problem } of results) {
    if (result === undefined) {
      collection.missing.push({ document: place.name, reason: problem.message });
    } else {
      collection.add(place.name, result);
    }
  }
}

async function fromCluster(
  flags: { kubeconfig: string | undefined; context: string | undefined },
  surroundings: FetchContext,
  collection: Collection,
): Promise<void> {
  let server: DocumentServer;
  let list: JsonObject;
  let config: Awaited<ReturnType<typeof loadKubeConfig>>;
  try {
    config = await loadKubeConfig(flags, surroundings.io.env);
  } catch (error) {
    throw new UsageError(`openapi merge: no API server: ${(error as Error).message}; or name files or URLs`);
  }
  try {
    const cluster = connect(config, surroundings.signal, shortRetries);
    server = { name: config.getCurrentCluster()?.server ?? '', get: (path) => cluster.request('GET', path) };
    list = await server.get('/openapi/v3');
  } catch (error) {
    surroundings.signal.throwIfAborted();
    if (isStatus(error, 404)) {
      throw new FailureError(
        `the API server does not publish OpenAPI v3, which Kubernetes has had since 1.24: ${error.message}`,
      );
    }
    throw new FailureError(withRemedy(explain(error, 'get', 'the URL', '/openapi/v3') as Error));
  }
  const places = documentList(list);
  if (places === undefined) {
    throw new FailureError(`${printable(server.name)}/openapi/v3 is not a list of documents`);
  }
  await fromList(server, places, surroundings, collection);
}

async function fromUrl(url: URL, surroundings: FetchContext, collection: Collection): Promise<void> {
  let bytes: Buffer;
  try {
    bytes = await fetchLimited(url, surroundings.signal);
  } catch (error) {
    throw error instanceof StatusError ? new FailureError(error.message) : error;
  }
  let places: DocumentPlace[] | undefined;
  try {
    places = documentList(parseJson(bytes));
  } catch {
    // Not JSON, so it is not a list, but it may be a document in YAML.
  }
  if (places !== undefined) {
    await fromList(urlServer(url, surroundings.signal), places, surroundings, collection);
    return;
  }
  collection.count(bytes.length);
  try {
    collection.add(shown(url), readOpenApi(bytes));
  } catch (error) {
    throw error instanceof InvalidOpenApi ? new FailureError(`${shown(url)} ${error.message}`) : error;
  }
}

async function fromFiles(path: string, surroundings: FetchContext, collection: Collection): Promise<void> {
  let count = 0;
  const { io, signal } = surroundings;
  for await (const source of readManifests([path], io.stdin as Readable, signal)) {
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

/** Fetches the documents that arguments name, and of the API server, without any or if a flag selects it. */
export async function gather(
  args: readonly string[],
  flags: { kubeconfig: string | undefined; context: string | undefined },
  surroundings: FetchContext,
): Promise<Collection> {
  const collection = new Collection();
  if (args.length === 0 || flags.kubeconfig !== undefined || flags.context !== undefined) {
    await fromCluster(flags, surroundings, collection);
  }
  for (const [index, argument] of args.entries()) {
    const url = /^https?:\/\//i.test(argument) ? URL.parse(argument) : undefined;
    if (url === null) {
      throw new UsageError(`openapi merge: ${printable(argument)} is not a URL`);
    }
    if (url !== undefined && (url.username !== '' || url.password !== '')) {
      throw new UsageError('openapi merge: a URL must not contain a user name; for an API server use --kubeconfig');
    }
    await (url === undefined ? fromFiles(argument, surroundings, collection) : fromUrl(url, surroundings, collection));
    surroundings.onProgress(index + 1, args.length);
  }
  collection.missing.sort((a, b) => (a.document < b.document ? -1 : 1));
  return collection;
}
