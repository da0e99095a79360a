import type { Logger } from 'pino';
import { formatHook, type HookDefinition, hooks } from '../../../runtimehooks/index.ts';
import type { Answer, Answers, Hook, HookName, RequestFor, ResponseFor } from './answer.ts';

/**
 * What a handler receives besides the request. Pass it on as it is: a copy (`{ ...context }`) has no `signal` and no
 * `log`.
 */
export interface HandlerContext<Response> {
  /** Creates the answer. */
  answer: Answers<Response>;
  /** Aborted when the caller's timeout expires, and when the caller disconnects. */
  signal: AbortSignal;
  /** Adds hook, handler and cluster to each line. */
  log: Logger;
  /** The Cluster that the call is about, as NAMESPACE/NAME; undefined if the request names none. */
  cluster: string | undefined;
  /** Settings of the ExtensionConfig, overridden by those of the patch in the ClusterClass. */
  settings: Readonly<Record<string, string>>;
}

/** A failure whose message users may read: when a handler throws it, the message becomes the answer. */
export class HandlerFailure extends Error {}

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
type Seconds = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | `${1 | 2}${Digit}` | 30;
/** A literal timeout must be one that Cluster API accepts; any other number is checked at start. */
type CheckedTimeout<T extends number> = number extends T
  ? T
  : T extends Seconds
    ? T
    : `${T}` extends Seconds
      ? T
      : 'a timeout is 1 to 30 seconds';
/** A literal name must look like an RFC 1123 label; every name is fully checked at start. */
type CheckedName<N extends string> = string extends N
  ? N
  : N extends Lowercase<N>
    ? N extends '' | `-${string}` | `${string}-` | `${string}${'.' | '_' | '/' | ' '}${string}`
      ? 'a name has lower case letters, digits and hyphens only'
      : N
    : 'a name has lower case letters, digits and hyphens only';

/** A handler as its author writes it. */
export interface HandlerOptions<H extends Hook, N extends string = string, T extends number = number> {
  /** An RFC 1123 label that is unique in the whole server, across hooks: `before-cluster-upgrade`. */
  name: N & CheckedName<N>;
  /** How long Cluster API waits for an answer, in seconds: 1 to 30. Default (Cluster API's): 10. */
  timeoutSeconds?: (T & CheckedTimeout<T>) | undefined;
  /** What Cluster API does when a call gets no response. Default (Cluster API's): `Fail`. */
  failurePolicy?: 'Fail' | 'Ignore' | undefined;
  /**
   * Answers a call. The same call may come again after it succeeded, and from several replicas: the same request must
   * lead to the same answer, and work that has been done must not be done again. An exception is logged and answered
   * with a Failure that does not reveal it; a `HandlerFailure` is answered with its message.
   */
  handle(
    request: RequestFor<H>,
    context: HandlerContext<ResponseFor<H>>,
  ): Answer<ResponseFor<H>> | Promise<Answer<ResponseFor<H>>>;
}

/** A handler of one hook, for `createExtensionServer`. */
export interface Handler {
  readonly name: string;
  readonly hook: HookDefinition;
  readonly timeoutSeconds?: number | undefined;
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined;
  handle(request: object, context: HandlerContext<unknown>): unknown;
}

/**
 * A handler of a hook. Its types follow from the hook:
 *
 * ```ts
 * handler('BeforeClusterUpgrade', {
 *   name: 'wait-for-backups',
 *   handle: async ({ cluster }, { answer }) =>
 *     (await isBackedUp(cluster)) ? answer.done() : answer.retryAfterSeconds(30, 'backups run'),
 * });
 * ```
 *
 * @throws {TypeError} for an unknown hook, and without options.
 */
export function handler<const H extends Hook, const N extends string, const T extends number = number>(
  hook: H,
  options: HandlerOptions<H, N, T>,
): Handler {
  const definition = typeof hook === 'object' && hook !== null ? hook : definitionOf(hook as HookName);
  if (typeof definition.request !== 'object') {
    throw new TypeError(
      "the hook is not a definition: pass a name such as 'BeforeClusterCreate', or what defineHook returns",
    );
  }
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`a handler of ${formatHook(definition)} has options: { name, handle }`);
  }
  return { ...options, hook: definition, handle: options.handle as unknown as Handler['handle'] };
}

function definitionOf(name: HookName): HookDefinition {
  if (!Object.hasOwn(hooks, name)) {
    throw new TypeError(`${JSON.stringify(name)} is not a hook: there are ${Object.keys(hooks).join(', ')}`);
  }
  return hooks[name];
}

/** The name of a handler in the log and in errors. */
export function describeHandler({ name, hook }: Handler): string {
  return `handler ${JSON.stringify(name)} of ${formatHook(hook)}`;
}
