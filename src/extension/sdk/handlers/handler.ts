import type { Log } from '../../../base/index.ts';
import { formatHook, type HookDefinition, hooks } from '../../../runtimehooks/index.ts';
import type { Lifetime } from '../calls/lifetime.ts';
import type { Answer, Answers, HookName, RequestFor, ResponseFor } from './answer.ts';

/** The context that a handler receives besides the request. */
export interface HandlerContext<Response> extends Lifetime {
  /** Creates the answer. */
  answer: Answers<Response>;
  /** Aborted when the caller's timeout expires, and when the caller disconnects. */
  signal: AbortSignal;
  /** Adds hook, handler and cluster to each line. */
  log: Log;
  /** The Cluster that the call is about, as NAMESPACE/NAME; undefined if the request names none. */
  cluster: string | undefined;
  /**
   * Whose work a call is about, as `createJobs` scopes its keys: the hook, the handler, and the Cluster, Machine or
   * MachineSet by namespace, name and uid.
   */
  subject: string;
  /** Settings of the ExtensionConfig, overridden by those of the patch in the ClusterClass. */
  settings: Readonly<Record<string, string>>;
}

/** A failure whose message users may read: when a handler throws it, the message becomes the answer. */
export class HandlerFailure extends Error {}

declare const problem: unique symbol;
/** A type that no value has, so that the compiler's error shows the sentence. */
export interface Problem<Sentence extends string> {
  readonly [problem]: Sentence;
}

/** A handler as its author writes it. */
export interface HandlerOptions<H extends HookName> {
  /** An RFC 1123 label that is unique in the whole server, across hooks: `before-cluster-upgrade`. */
  name: string;
  /** How long Cluster API waits for an answer, in seconds: 1 to 30. Default (Cluster API's): 10. */
  timeoutSeconds?: number | undefined;
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
export interface Handler<H extends HookName = HookName> {
  readonly name: string;
  readonly hook: HookDefinition;
  readonly timeoutSeconds?: number | undefined;
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined;
  handle(request: object, context: HandlerContext<unknown>): unknown;
  /** Exists only in the type, never as a value. */
  readonly types?: { readonly hook: H };
}

/**
 * A handler of a hook. Its types follow from the hook:
 *
 * ```ts
 * handler('BeforeClusterUpgrade', {
 *   name: 'wait-for-backups',
 *   handle: async ({ cluster }, { answer }) =>
 *     (await isBackedUp(cluster)) ? answer.done() : answer.retry(30, 'backups run'),
 * });
 * ```
 *
 * @throws {TypeError} for an unknown hook.
 */
export function handler<H extends HookName>(hook: H, options: HandlerOptions<H>): Handler<H> {
  // Objects of a class have their functions in its prototype, which is not copied.
  return { ...options, hook: definitionOf(hook), handle: options?.handle as unknown as Handler['handle'] };
}

/** @throws {TypeError} if it is not a hook. */
export function definitionOf(hook: HookName): HookDefinition {
  if (!Object.hasOwn(hooks, hook)) {
    const shownHook = typeof hook === 'string' ? JSON.stringify(hook.slice(0, 100)) : 'this';
    const names = Object.keys(hooks).filter((name) => name !== 'Discovery');
    throw new TypeError(`${shownHook} is not a hook: pass one of ${names.join(', ')}`);
  }
  return hooks[hook];
}

/** The name of a handler in the log and in errors. */
export function describeHandler({ name, hook }: Handler): string {
  return `handler ${JSON.stringify(name)} of ${formatHook(hook)}`;
}
