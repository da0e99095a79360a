import { isUtf8 } from 'node:buffer';
import { jsonSyntaxError, quoted, textOf } from '../../../base/go-text/index.ts';
import { JsonError, type JsonObject, parseFirstJson, withWholeFractionsShown } from '../../../kubernetes/index.ts';
import type { HookDefinition } from '../../catalog/definition.ts';
import { decodeResponse } from '../../messages/index.ts';
import { type CallError, isCallError, isIgnorable, maxMessage, quotable } from '../call-error.ts';
import type { Extension } from '../registry.ts';
import type { ExtensionConnections, ExtensionResponse } from './connections.ts';
import type { CallMetrics } from './metrics.ts';
import { type CalledHandler, targetOf } from './url.ts';

/** How much of an error response Cluster API's errors contain, in bytes. */
const maxErrorBody = 512;

interface Failing {
  /** That of the ExtensionConfig: one that was deleted and created again starts without a backoff. */
  uid: string;
  failures: number;
  /** When it may be called again, in ms. */
  until: number;
  lastError: string;
}

/** The first wait of a backoff, and the longest one, in ms. */
const firstMs = 1000;
const longestMs = 60_000;

/** Holds back calls of an extension that fails: for 1 s, 2 s, 4 s, … up to a minute. @param now monotonic, in ms. */
export function createBackoff(now: () => number) {
  const byName = new Map<string, Failing>();
  /** The failures that prevent a call, and for how many ms more; undefined if it may be made. */
  function holds({ name, uid }: Extension): (Failing & { waitMs: number }) | undefined {
    const failing = byName.get(name);
    const waitMs = (failing?.until ?? 0) - now();
    return failing?.uid !== uid || waitMs <= 0 ? undefined : { ...failing, waitMs };
  }
  return {
    holds,
    failed(extension: Extension, lastError: string): void {
      // Concurrent calls that fail together count as one failure.
      if (holds(extension) === undefined) {
        const { name, uid } = extension;
        const known = byName.get(name);
        const failures = known?.uid === uid ? known.failures + 1 : 1;
        const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 16), longestMs);
        byName.set(name, { uid, failures, until: now() + delay, lastError });
      }
    },
    forget: (name: string) => void byName.delete(name),
  };
}

interface Outgoing extends CalledHandler {
  extension: Extension;
  hook: HookDefinition;
  /** A text is sent as it is. */
  request: JsonObject | string;
  signal: AbortSignal | undefined;
  /** Longest response that is read, in bytes. Default: 20 MiB. */
  maxAnswerBytes?: number;
  /** Whether to call without a Content-Type, as Cluster API does (httpCall), and even if the extension is in backoff. */
  mimicsClusterApi: boolean;
}

export interface ExchangeContext {
  connections: ExtensionConnections;
  backoff?: ReturnType<typeof createBackoff>;
  metrics?: CallMetrics | undefined;
  now?: () => number;
}

/** A message of a server, wrapped because it may have any field, even those of an error. */
export interface Message {
  content: JsonObject;
}

/** The message in a response, as Cluster API reads it: status code 200, the first JSON value, with the right types. */
export function readAnswer(answer: ExtensionResponse, hook: HookDefinition): Message | CallError {
  if (answer.code !== 200) {
    const more = Buffer.from(answer.body.length > maxErrorBody ? '...' : '');
    const body = textOf(quoted(Buffer.concat([answer.body.subarray(0, maxErrorBody), more]).toString('latin1')));
    const message = `http call failed: got response with status code ${answer.code} != 200: response : ${body}`;
    return { step: 'http', message, code: answer.code };
  }
  const failed = (problem: string): CallError => ({
    step: 'decode',
    message: `http call failed: failed to decode response: ${problem}`,
    code: 200,
  });
  // Go replaces bytes that are not UTF-8.
  const body = isUtf8(answer.body) ? answer.body : Buffer.from(answer.body.toString('utf8'));
  try {
    const decoded = decodeResponse(hook, parseFirstJson(body));
    if ('problem' in decoded) {
      return failed(decoded.problem);
    }
    const shown = withWholeFractionsShown(body);
    const fractions = shown === undefined ? decoded : decodeResponse(hook, shown);
    return 'problem' in fractions
      ? failed(`${fractions.problem}: Go takes 30, but neither 30.0 nor 3e1, for an integer`)
      : { content: decoded.response };
  } catch (error) {
    if (error instanceof JsonError) {
      const text = answer.body.toString('latin1');
      return failed(jsonSyntaxError(text, text.trim() === '' ? 'EOF' : 'unexpected EOF') ?? error.message);
    }
    throw error;
  }
}

/** The request of the hook, with the extension's settings, which the request's own settings override. */
export function complete(hook: HookDefinition, request: object, settings: Extension['settings']): JsonObject {
  const own = (request as { settings?: Record<string, string> }).settings;
  const merged = { ...settings, ...own };
  return {
    ...(request as JsonObject),
    apiVersion: `${hook.group}/${hook.version}`,
    kind: hook.request.kind,
    ...(Object.keys(merged).length === 0 || hook.singleton ? {} : { settings: merged }),
  };
}

/** Sends a request and reads the response, unless the extension is in backoff. Never throws because of a server. */
export async function exchange(outgoing: Outgoing, context: ExchangeContext): Promise<Message | CallError> {
  const { extension, hook, timeoutSeconds, request, signal, mimicsClusterApi } = outgoing;
  const { connections, backoff, metrics, now = () => performance.now() } = context;
  const { clientConfig } = extension;
  const target = targetOf(clientConfig, outgoing);
  if (isCallError(target)) {
    return target;
  }
  const failing = mimicsClusterApi ? undefined : backoff?.holds(extension);
  if (failing !== undefined) {
    metrics?.heldBack(extension.name);
    const seconds = Math.ceil(failing.waitMs / 1000);
    const times = failing.failures === 1 ? 'once' : `${failing.failures} times`;
    return {
      step: 'backoff',
      message: `extension ${JSON.stringify(extension.name)} is not called for another ${seconds}s: it failed ${times} in a row, last with: ${failing.lastError}`,
    };
  }
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
  const started = now();
  const answer = await connections.post(extension.name, {
    target,
    caBundle: clientConfig.caBundle || undefined,
    body: typeof request === 'string' ? request : JSON.stringify(request),
    maxAnswerBytes: outgoing.maxAnswerBytes,
    hasContentType: !mimicsClusterApi,
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  const result = isCallError(answer) ? answer : readAnswer(answer, hook);
  const isFailed = isCallError(result);
  const status = isFailed ? undefined : result.content.status;
  metrics?.request(
    {
      code: isFailed ? String(result.code ?? '<error>') : '200',
      host: target.host,
      group: hook.group,
      version: hook.version,
      hook: hook.name,
      status: status === 'Success' || status === 'Failure' ? status : 'Unknown',
    },
    (now() - started) / 1000,
  );
  if (!isFailed) {
    backoff?.forget(extension.name);
  } else if (isIgnorable(result)) {
    backoff?.failed(extension, result.message);
  }
  return result;
}

/** The error for the status of a response; undefined for a success. */
export function statusError({ status, message }: JsonObject): CallError | undefined {
  if (status === 'Success') {
    return undefined;
  }
  const text = typeof message === 'string' ? quotable(message, maxMessage) : '';
  const shown = JSON.stringify(quotable(String(status ?? '')));
  const what = status === 'Failure' ? 'failure response' : `unknown response status ${shown}`;
  return { step: 'status', message: `got ${what} with message: ${text}` };
}
