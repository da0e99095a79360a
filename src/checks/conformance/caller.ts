import { type JsonObject, perObject } from '../../kubernetes/index.ts';
import {
  type Extension,
  ExtensionConnections,
  isCallError,
  type Resolve,
  readAnswer,
  targetOf,
} from '../../runtimehooks/client/index.ts';
import type { HookDefinition } from '../../runtimehooks/index.ts';
import type { Outcome } from './outcome.ts';
import { effectOf } from './patches.ts';

/** Longest response that is read, in bytes: a hundred times what the sample requests should produce. */
const maxAnswerBytes = 2 * 1024 * 1024;
/** Number of concurrent calls in the load check. */
export const concurrentCalls = 50;

/** How a call differs from the request that Cluster API would send. */
export interface Variation {
  /** Default: the request of the handler. */
  body?: string | Buffer | JsonObject;
  withContentType?: boolean;
  /** Timeout in ms. */
  hangUpAfterMs?: number;
}

/** What is called, with the request that Cluster API would send. */
export interface Callee {
  /** Name of the handler without that of the ExtensionConfig; undefined for Discovery. */
  name: string | undefined;
  hook: HookDefinition;
  timeoutSeconds: number;
  request: JsonObject;
}

/** Creates the caller of an extension server, over persistent connections; `signal` aborts its calls. */
export function createCaller(extension: Extension, resolve: Resolve | undefined, signal: AbortSignal) {
  const connections = new ExtensionConnections({ resolve }, concurrentCalls);
  let calls = 0;
  /** The last call that was sent while the server listened. */
  let last: string | undefined;
  let ended: string | undefined;
  /** Requests of handlers, which are sent again and again: written once. */
  const bytesOf = perObject((body: JsonObject) => Buffer.from(JSON.stringify(body)));
  function targetFor({ hook: { group, version, name: hook }, name: handler, timeoutSeconds }: Callee) {
    const call = { group, version, hook, timeoutSeconds, ...(handler !== undefined && { handler }) };
    return targetOf(extension.clientConfig, call);
  }
  return {
    /** Where a call goes. */
    targetFor,
    /** Makes one call. Never rejects: a failure is also an outcome. */
    async send(callee: Callee, variation: Variation): Promise<Outcome> {
      const { hook, timeoutSeconds, request } = callee;
      const target = targetFor(callee);
      if (isCallError(target)) {
        return { error: target, ms: 0 };
      }
      const { body = request, withContentType = false, hangUpAfterMs } = variation;
      const isObject = typeof body !== 'string' && !Buffer.isBuffer(body);
      const number = ++calls;
      const started = performance.now();
      const answer = await connections.post(extension.name, {
        target,
        caBundle: extension.clientConfig.caBundle || undefined,
        body: isObject ? bytesOf(body) : body,
        hasContentType: withContentType,
        maxAnswerBytes,
        signal: AbortSignal.any([signal, AbortSignal.timeout(hangUpAfterMs ?? timeoutSeconds * 1000)]),
      });
      const ms = performance.now() - started;
      if (isCallError(answer) && answer.step === 'connect' && answer.message.includes('connection refused')) {
        ended ??= last && `the server died after ${last}: look in its log for the error that nobody caught`;
      } else {
        last = `call ${number} of ${hook.name}`;
      }
      const read = isCallError(answer) ? answer : readAnswer(answer, hook);
      if (isCallError(read)) {
        return { error: read, ms };
      }
      let effect: JsonObject | undefined;
      return {
        response: read.content,
        effect() {
          effect ??= effectOf(hook, isObject ? body : request, read.content);
          return effect;
        },
        ms,
      };
    },
    calls: () => calls,
    /** Why nothing listens any more, although a call was answered before; undefined while it does. */
    ended: () => ended,
    close: () => connections.close(),
  };
}
