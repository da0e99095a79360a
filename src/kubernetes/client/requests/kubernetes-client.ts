import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import pRetry from 'p-retry';
import { FailureError, printable, readLimited } from '../../../base/index.ts';
import { fieldAt, isJsonObject, type Json, type JsonObject, objectAt, parseJson } from '../../objects/json/json.ts';
import { areSameSecrets } from '../credential-plugin.ts';
import {
  type ApiResponse,
  ConnectionError,
  causeOf,
  linesOf,
  maxRefusalBytes,
  type OutgoingRequest,
  ResponseError,
  ResponseTooLong,
  type Transport,
  transportFor,
} from './transport.ts';

/** Longest response that is read, in bytes: an object has at most 3 MiB, and lists are read in pages. */
const maxAnswerBytes = 16 * 1024 * 1024;
/** Longest line of a watch, in bytes: one object of at most 3 MiB. */
const maxEventBytes = 4 * 1024 * 1024;
/** Events handled between two turns of the event loop: changes arrive in chunks of megabytes. */
const eventsPerTurn = 50;
const maxRetryAfterMs = 30_000;
const headersTimeoutMs = 10_000;

/** A response other than 2xx. `message` is the server's own, made printable; bodies are not quoted. */
export class StatusError extends FailureError {
  readonly code: number;
  /** How long the server asks to wait before the next attempt, in ms; 0 if it does not ask. */
  readonly retryAfterMs: number;
  constructor(code: number, message: string, retryAfterMs = 0) {
    super(printable(message));
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

export const isStatus = (error: unknown, ...codes: readonly number[]): error is StatusError =>
  error instanceof StatusError && codes.includes(error.code);

/** The credentials are insufficient; the message names the missing permission. */
export class Forbidden extends FailureError {}

/** How a 403 of admission webhooks, policies, quotas and namespaces reads, which is not about a permission. */
const otherReason = /denied (?:the )?request|quota: |being terminated/;

/** Converts a 403 into an error that names the permission, and a 401 into one that names the credentials. */
export function explain(error: unknown, verb: string, resource: string, name: string): unknown {
  if (isStatus(error, 403) && otherReason.test(error.message)) {
    return new StatusError(403, `the API server refuses to ${verb} ${resource} ${name}: ${error.message}`);
  }
  if (isStatus(error, 403)) {
    return new Forbidden(
      `forbidden: the permission to ${verb} ${`${resource} ${name}`.trim()} is missing (${error.message})`,
    );
  }
  if (isStatus(error, 401)) {
    return new Forbidden(
      `the API server does not accept the credentials: renew those of the kubeconfig (${error.message})`,
    );
  }
  return error;
}

/** Reads an object; undefined if there is none. @throws as `request`, with the permission that is missing. */
export async function readObject(cluster: KubernetesClient, path: string, resource: string, key: string) {
  try {
    return await cluster.request('GET', path);
  } catch (error) {
    if (isStatus(error, 404)) {
      return undefined;
    }
    throw explain(error, 'get', resource, key);
  }
}

/** Six attempts in about 10 s, not counting those that the server asks for; the deadline is for all of them. */
const defaultRetries = { retries: 5, minTimeoutMs: 250, maxTimeoutMs: 5000, deadlineMs: 60_000 };

type RetryOptions = typeof defaultRetries;

/** Three attempts in about a second: short, since a person is waiting. */
export const shortRetries: Partial<RetryOptions> = { retries: 2, maxTimeoutMs: 1000, deadlineMs: 30_000 };

interface WatchOptions {
  /** How long the server should keep the watch open, in ms; rounded up to whole seconds in the request. */
  watchMs: number;
  /** How long after that the connection is considered dead, in ms. */
  graceMs: number;
  onOpen(): void;
  /** After a bookmark, everything up to the version of its object has been reported. */
  onEvent(event: { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: JsonObject }): void;
}

/** Requests to an API server, as plain JSON. */
export interface KubernetesClient {
  /**
   * The body of a PATCH is a JSON patch if it is an array, else a JSON merge patch; APPLY is server-side apply.
   *
   * @throws {StatusError} for any response but 2xx, at once; for 429 and 5xx after retries.
   * @throws {ConnectionError} without a response, after retries.
   * @throws {ResponseError} for a response that is too long or not a JSON object.
   */
  request(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'APPLY' | 'DELETE',
    path: string,
    body?: Json,
  ): Promise<JsonObject>;
  /** Resolves when the server ends the watch; nothing is retried. Errors are those of `request`. */
  watch(path: string, options: WatchOptions): Promise<void>;
  /** The server's time when it last responded, minus this machine's, in ms; undefined if it has not said it. */
  clockOffsetMs?(): number | undefined;
}

/** How long the server asks to wait, according to an error, in ms; 0 if it does not ask. */
export const askedWait = (error: unknown): number => (error instanceof StatusError ? error.retryAfterMs : 0);

/** The same by the header of a response; API servers derive it from the details of their Status. */
function retryAfterOf({ code, headers }: ApiResponse): number {
  const header = String(headers['retry-after']).trim();
  const seconds = (code === 429 || code >= 500) && /^\d{1,9}$/.test(header) ? Number(header) : 0;
  return Math.min(seconds * 1000, maxRetryAfterMs);
}

function jsonIn(bytes: Uint8Array): Json {
  try {
    return parseJson(bytes);
  } catch {
    return null;
  }
}

async function refusalOf(server: string, what: string, path: string, answer: ApiResponse): Promise<Error> {
  const { code, headers } = answer;
  const bytes = await readLimited(answer.body, maxRefusalBytes);
  if (code >= 300 && code < 400) {
    const where = headers.location === undefined ? '' : ` to ${JSON.stringify(String(headers.location).slice(0, 300))}`;
    const remedy = 'and redirects are not followed: correct the server in the kubeconfig';
    return new StatusError(code, `${server} redirects ${what}${where}, ${remedy}`);
  }
  // Of the error page of a proxy, the status code is enough.
  const status = jsonIn(bytes ?? new Uint8Array());
  const retryAfterMs = retryAfterOf(answer);
  if (isJsonObject(status) && status.kind === 'Status' && typeof status.message === 'string') {
    return new StatusError(code, status.message, retryAfterMs);
  }
  // An API server that does not know a resource responds with a 404 in plain text.
  if (bytes?.toString('utf8').trim() === '404 page not found') {
    return new StatusError(code, `${server} does not serve ${path.split('?', 1)[0]}`);
  }
  const unexplained = `${server} answered ${what} with ${code} and no reason: is it an API server?`;
  // A 404 that no API server has sent does not mean that an object is missing, and must not lead to its creation.
  return code === 404 ? new ResponseError(unexplained) : new StatusError(code, unexplained, retryAfterMs);
}

const eventTypes = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'] as const;

function eventOf(line: Uint8Array) {
  const event = jsonIn(line);
  const [named, object] = [fieldAt(event, 'type'), fieldAt(event, 'object')];
  const type = eventTypes.find((known) => known === named);
  if (named === 'ERROR') {
    const { code, message } = objectAt(object);
    const text = typeof message === 'string' ? message : 'the watch failed without a reason';
    throw new StatusError(typeof code === 'number' ? code : 500, text);
  }
  if (type === undefined || !isJsonObject(object)) {
    throw new ResponseError('a watch sent a line that is not an event');
  }
  return { type, object };
}

async function objectIn(body: ApiResponse['body'], answer: string): Promise<JsonObject> {
  const bytes = await readLimited(body, maxAnswerBytes);
  if (bytes === undefined) {
    throw new ResponseTooLong(`${answer} is longer than ${maxAnswerBytes / 1024 / 1024} MiB`);
  }
  let value: Json;
  try {
    value = parseJson(bytes);
  } catch (error) {
    throw new ResponseError(`${answer} is not JSON: ${(error as Error).message}`);
  }
  if (!isJsonObject(value)) {
    throw new ResponseError(`${answer} is not a JSON object`);
  }
  return value;
}

/** Sends a request once, and reads a response of 2xx; errors are those of `request`. */
async function send<T>(
  transport: Transport,
  request: OutgoingRequest,
  read: (body: ApiResponse['body'], answer: string) => Promise<T>,
): Promise<T> {
  const { server } = transport;
  const what = `${request.method} ${request.path}`;
  const answer = await transport.open(request);
  try {
    if (answer.code > 299) {
      throw await refusalOf(server, what, request.path, answer);
    }
    return await read(answer.body, `the answer of ${server} to ${what}`);
  } catch (error) {
    if (error instanceof ResponseError || error instanceof StatusError) {
      throw error;
    }
    throw new ConnectionError(server, causeOf(error));
  } finally {
    // The HTTP client reuses the connection only after a turn of the event loop.
    await setImmediate();
  }
}

/** Connects to an API server with client-node's authentication and TLS, without its types: unknown fields survive. */
export function connect(
  config: KubeConfig,
  signal: AbortSignal,
  changes: Partial<RetryOptions> = {},
): KubernetesClient {
  const retryOptions = { ...defaultRetries, ...changes };
  const transport = transportFor(config);
  const { server } = transport;

  /** Once more with other credentials, if they are refused. */
  async function signedIn<T>(work: () => Promise<T>): Promise<T> {
    const credential = await transport.signIn(signal);
    try {
      return await work();
    } catch (error) {
      if (credential === undefined || !isStatus(error, 401)) {
        throw error;
      }
      // If that fails, the refusal says more.
      const other = await transport.signIn(signal, credential).catch(() => credential);
      signal.throwIfAborted();
      if (areSameSecrets(other ?? credential, credential)) {
        throw error;
      }
      return work();
    }
  }

  return {
    clockOffsetMs: transport.clockOffsetMs,
    request: (method, path, body) =>
      signedIn(async () => {
        const stop = AbortSignal.any([signal, AbortSignal.timeout(retryOptions.deadlineMs)]);
        const text: string | undefined = JSON.stringify(body);
        const patch = `application/${text?.startsWith('[') ? 'json' : 'merge'}-patch+json`;
        const types: Record<string, string> = { APPLY: 'application/apply-patch+yaml', PATCH: patch };
        const request: OutgoingRequest = {
          method: method === 'APPLY' ? 'PATCH' : method,
          path,
          body: text === undefined ? undefined : { type: types[method] ?? 'application/json', text },
          signal: stop,
          headersTimeoutMs: retryOptions.deadlineMs,
        };
        let last: unknown;
        try {
          return await pRetry(() => send(transport, request, objectIn), {
            retries: retryOptions.retries,
            minTimeout: retryOptions.minTimeoutMs,
            maxTimeout: retryOptions.maxTimeoutMs,
            randomize: true,
            signal: stop,
            // Retries that the server asks for are not counted; only the deadline limits them.
            shouldConsumeRetry: ({ error }) => askedWait(error) === 0,
            onFailedAttempt: async ({ error, retriesLeft }) => {
              last = error;
              if (retriesLeft > 0) {
                await sleep(askedWait(error), undefined, { signal: stop });
              }
            },
            // After 409 and 422 the caller reads the object again.
            shouldRetry: ({ error }) =>
              error instanceof ConnectionError ||
              (error instanceof StatusError && (error.code === 429 || error.code >= 500)),
          });
        } catch {
          signal.throwIfAborted();
          throw last ?? new ConnectionError(server, `no data came within ${retryOptions.deadlineMs / 1000} s`);
        }
      }),
    watch: (path, options) =>
      signedIn(async () => {
        const { watchMs, graceMs } = options;
        const end = AbortSignal.timeout(watchMs + graceMs);
        const stop = AbortSignal.any([signal, end]);
        const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${Math.ceil(watchMs / 1000)}`;
        const full = `${path}${path.includes('?') ? '&' : '?'}${query}`;
        try {
          const request: OutgoingRequest = { method: 'GET', path: full, signal: stop, headersTimeoutMs };
          await send(transport, request, async (body) => {
            options.onOpen();
            let events = 0;
            for await (const line of linesOf(body, maxEventBytes)) {
              if (++events % eventsPerTurn === 0) {
                await setImmediate();
              }
              options.onEvent(eventOf(line));
            }
          });
        } catch (error) {
          signal.throwIfAborted();
          const waited = `a watch of ${watchMs / 1000} s had not ended after ${(watchMs + graceMs) / 1000} s`;
          throw end.aborted ? new ConnectionError(server, `${waited}: the connection is dead`) : error;
        }
      }),
  };
}

/** Number of objects on a page; fewer if that would exceed the limit of a response. */
const pageLength = 100;

interface ListOptions {
  path: string;
  /** Its name in permissions: `extensionconfigs.runtime.cluster.x-k8s.io`. */
  resource: string;
  query?: Readonly<Record<string, string>> | undefined;
  /** What is selected, in a message about a missing permission. Default: all. */
  name?: string | undefined;
  /** Endless continue tokens must not keep the program busy forever, or fill its memory. */
  maxObjects: number;
}

/**
 * A page that is too large is requested again in smaller ones. @throws {ResponseError} for a response that is not a list, and
 * for more than `maxObjects`; else as `request`, with 403 and 401 as {@link Forbidden}.
 */
export async function* listPages(cluster: KubernetesClient, options: ListOptions) {
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
    const objects = (items ?? []).map((object) => {
      if (!isJsonObject(object) || !isJsonObject(object.metadata) || typeof object.metadata.name !== 'string') {
        throw new ResponseError(`the API server listed an object that is not one of ${resource}`);
      }
      return object;
    });
    count += objects.length;
    pages++;
    // Pages may be empty.
    if (count > maxObjects || pages > maxObjects + 1) {
      throw new ResponseError(`there are more than ${maxObjects} ${resource}: name them, or select by label`);
    }
    // Of the whole list, from which to watch.
    const { resourceVersion } = metadata;
    yield { items: objects, resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '' };
    token = typeof metadata.continue === 'string' ? metadata.continue : '';
    if (token === '') {
      return;
    }
  }
}
