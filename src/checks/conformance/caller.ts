import type { JsonObject } from '../../kubernetes/index.ts';
import {
  createConnections,
  type Extension,
  isCallError,
  quotable,
  type Resolve,
  readAnswer,
  targetOf,
} from '../../runtimehooks/client/index.ts';
import type { HookDefinition } from '../../runtimehooks/index.ts';
import type { Heard } from './heard.ts';

/** Longest response that is read, in bytes: a hundred times what the sample requests should produce. */
const maxAnswerBytes = 2 * 1024 * 1024;
/** Number of concurrent calls in the load check. */
export const callsAtOnce = 50;

/** How a call differs from the request that Cluster API would send. */
export interface Variation {
  /** Default: the request of the handler. */
  body?: string | Buffer | JsonObject;
  withContentType?: boolean;
  /** Changes the path, which includes the query. */
  path?: (path: string) => string;
  /** Timeout in ms. */
  hangUpAfterMs?: number;
}

/** A request as Cluster API would send it. */
interface PlainRequest {
  hook: HookDefinition;
  /** Name of the handler, without that of the ExtensionConfig; undefined for Discovery. */
  handler: string | undefined;
  timeoutSeconds: number;
  body: JsonObject;
}

/** Calls one extension server, over persistent connections. */
export interface Caller {
  /** Makes one call. Never rejects: a failure is also a result. */
  send(request: PlainRequest, variation: Variation): Promise<Heard>;
  /** Number of calls so far. */
  calls(): number;
  close(): Promise<void>;
}

/** Creates the caller of an extension server; `signal` aborts its calls. */
export function createCaller(extension: Extension, resolve: Resolve | undefined, signal: AbortSignal): Caller {
  const connections = createConnections({
    maxConcurrentCalls: callsAtOnce,
    maxAnswerBytes,
    ...(resolve && { resolve }),
  });
  let calls = 0;
  /** Requests of handlers, which are sent again and again: written once. */
  const written = new WeakMap<JsonObject, Buffer>();
  const textOf = (body: JsonObject) => {
    const text = written.get(body) ?? Buffer.from(JSON.stringify(body));
    written.set(body, text);
    return text;
  };
  return {
    async send({ hook, handler, timeoutSeconds, body: plainBody }, variation) {
      const { group, version, name } = hook;
      const target = targetOf(extension.clientConfig, {
        ...{ group, version, hook: name, timeoutSeconds },
        ...(handler === undefined ? {} : { handler }),
      });
      if (isCallError(target)) {
        return { kind: 'failed', error: target, ms: 0 };
      }
      const { body = plainBody, withContentType = false, path, hangUpAfterMs } = variation;
      const limits = [
        AbortSignal.timeout(timeoutSeconds * 1000),
        ...(hangUpAfterMs === undefined ? [] : [AbortSignal.timeout(hangUpAfterMs)]),
      ];
      calls++;
      const started = performance.now();
      const answer = await connections.post(extension.name, {
        target: path === undefined ? target : { ...target, path: path(target.path) },
        caBundle: extension.clientConfig.caBundle || undefined,
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : textOf(body),
        withoutContentType: !withContentType,
        signal: AbortSignal.any([signal, ...limits]),
      });
      const ms = performance.now() - started;
      if (isCallError(answer)) {
        return { kind: 'failed', error: answer, ms };
      }
      if (answer.code !== 200) {
        return { kind: 'refused', code: answer.code, text: quotable(answer.body.toString('utf8')), ms };
      }
      const read = readAnswer(answer, hook);
      return isCallError(read) ? { kind: 'failed', error: read, ms } : { kind: 'answer', response: read.content, ms };
    },
    calls: () => calls,
    close: () => connections.close(),
  };
}
