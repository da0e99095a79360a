import { Buffer } from 'node:buffer';
import type { HttpMethod, KubeConfig, RequestContext, ResponseContext } from '@kubernetes/client-node';
import pRetry from 'p-retry';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../kubernetes/index.ts';
import { clientNode } from './client-node.ts';

/** Longest answer of the API server that is read, in bytes: an object is at most 1.5 MiB, a list of configurations a few. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** The body of an API server's 404 for a path that it does not serve. */
const unknownResource = '404 page not found';

/** An answer of the API server that is no success. `message` is the server's own, without request or response bodies. */
export class ApiError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** How often and how long requests that failed for a passing reason are tried again. */
export interface Patience {
  retries: number;
  minTimeoutMs: number;
  maxTimeoutMs: number;
  /** Of one request with all its tries, in ms. */
  deadlineMs: number;
}

/** Six tries in about 10 s. */
export const defaultPatience: Patience = { retries: 5, minTimeoutMs: 250, maxTimeoutMs: 5000, deadlineMs: 60_000 };

/** Requests to an API server, as plain JSON. */
export interface Cluster {
  /**
   * @throws {ApiError} on any answer but 2xx, at once or after retries (429, 5xx, broken connections).
   */
  request(method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, body?: Json): Promise<JsonObject>;
}

/** Reads a kubeconfig: the file named, else $KUBECONFIG, ~/.kube/config, or the pod's service account. */
export function loadKubeConfig(options: { kubeconfig?: string | undefined; context?: string | undefined }): KubeConfig {
  const config = new (clientNode().KubeConfig)();
  if (options.kubeconfig === undefined) {
    config.loadFromDefault();
  } else {
    config.loadFromFile(options.kubeconfig);
  }
  if (options.context !== undefined) {
    if (config.getContextObject(options.context) === null) {
      const known = config.getContexts().map(({ name }) => name);
      throw new Error(
        `context ${JSON.stringify(options.context)} is not in the kubeconfig (it has ${known.join(', ')})`,
      );
    }
    config.setCurrentContext(options.context);
  }
  if (config.getCurrentCluster() === null) {
    throw new Error('the kubeconfig names no cluster: give --kubeconfig and --context, or run in a pod');
  }
  return config;
}

/** Whether another try may succeed. 409 and 422 are decisions of the server: the caller reads again. */
function isPassing(error: unknown): boolean {
  return !(error instanceof ApiError) || error.code === 429 || error.code >= 500;
}

/** The client: client-node's transport and authentication, without its typed models, so that unknown fields survive. */
export function connect(config: KubeConfig, signal: AbortSignal, patience: Patience = defaultPatience): Cluster {
  const { createConfiguration, HttpMethod, RequestContext } = clientNode();
  const { httpApi } = createConfiguration({});
  const server = config.getCurrentCluster()?.server.replace(/\/$/, '') ?? '';
  let dispatcher: ReturnType<RequestContext['getDispatcher']>;

  async function send(
    method: HttpMethod,
    path: string,
    body: Json | undefined,
    stop: AbortSignal,
  ): Promise<JsonObject> {
    const context = new RequestContext(`${server}${path}`, method);
    context.setHeaderParam('Accept', 'application/json');
    if (body !== undefined) {
      context.setHeaderParam(
        'Content-Type',
        method === HttpMethod.PATCH ? 'application/json-patch+json' : 'application/json',
      );
      context.setBody(JSON.stringify(body));
    }
    context.setSignal(stop);
    await config.applySecurityAuthentication(context);
    // The library makes a connection pool for every request; one is enough.
    dispatcher ??= context.getDispatcher();
    if (dispatcher !== undefined) {
      context.setDispatcher(dispatcher);
    }
    const response: ResponseContext = await httpApi.send(context).toPromise();
    const text = await response.body.text();
    let answer: Json = null;
    if (text.length <= maxAnswerBytes) {
      try {
        answer = parseJson(Buffer.from(text));
      } catch {
        // A proxy's error page: the status code says enough.
      }
    }
    const code = response.httpStatusCode;
    if (code < 200 || code > 299) {
      if (isJsonObject(answer) && typeof answer.message === 'string') {
        throw new ApiError(code, answer.message.slice(0, 1000));
      }
      // An API server that does not know a resource says 404 in plain text. Anybody else's 404 does not mean that an
      // object is missing: it must not be made.
      const isUnknownResource = text.trim() === unknownResource;
      throw new ApiError(
        code === 404 && !isUnknownResource ? 502 : code,
        isUnknownResource
          ? `${server} does not serve ${path}`
          : `${server} answered ${code} to ${method} ${path} without a reason: is it an API server?`,
      );
    }
    if (!isJsonObject(answer)) {
      throw new ApiError(502, `${method} ${path}: the answer is no JSON object`);
    }
    return answer;
  }

  return {
    request: (method, path, body) => {
      const stop = AbortSignal.any([signal, AbortSignal.timeout(patience.deadlineMs)]);
      return pRetry(
        async () => {
          try {
            return await send(method as HttpMethod, path, body, stop);
          } catch (error) {
            throw error instanceof ApiError ? error : new ConnectionError(server, error);
          }
        },
        {
          retries: patience.retries,
          minTimeout: patience.minTimeoutMs,
          maxTimeout: patience.maxTimeoutMs,
          randomize: true,
          signal: stop,
          shouldRetry: ({ error }) => isPassing(error) && !stop.aborted,
        },
      );
    },
  };
}

/** The API server can't be reached. Names the cause by its code: messages of TLS libraries quote certificates. */
export class ConnectionError extends Error {
  constructor(server: string, error: unknown) {
    const { cause: inner, message } = error as { cause?: { code?: string }; message: string };
    const cause = inner === undefined ? message.slice(0, 300) : (inner.code ?? 'connection failed');
    super(`no answer from the API server ${server}: ${cause}`);
  }
}
