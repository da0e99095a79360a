import type { Log } from '../../../base/index.ts';
import { formatHook, type HookDefinition, hooks } from '../../../runtimehooks/index.ts';
import type { Lifetime } from '../calls/lifetime.ts';
import type { Answer, Answers, HookName, RequestFor, ResponseFor } from './answer.ts';

/** What a handler receives besides the request. */
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

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
type Seconds = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | `${1 | 2}${Digit}` | 30;
/** A literal timeout must be one that Cluster API accepts; any other number is checked at start. */
type CheckedTimeout<T extends number> = number extends T
  ? T
  : T extends Seconds
    ? T
    : `${T}` extends Seconds
      ? T
      : Problem<'a timeout is a whole number of seconds from 1 to 30'>;

// biome-ignore format: one line.
type LabelCharacter = Digit | '-' | 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z';
type HasLabelCharacters<N extends string> = N extends ''
  ? true
  : N extends `${LabelCharacter}${infer Rest}`
    ? HasLabelCharacters<Rest>
    : false;
/** A literal name must be an RFC 1123 label; every name is checked at start. */
type CheckedName<N extends string> = string extends N
  ? N
  : N extends '' | `-${string}` | `${string}-`
    ? Problem<"a handler's name is a lower-case RFC 1123 label">
    : HasLabelCharacters<N> extends true
      ? N
      : Problem<"a handler's name is a lower-case RFC 1123 label">;

type CheckedHook<H> = H extends 'Discovery'
  ? Problem<'the server answers Discovery itself'>
  : H extends HookName
    ? H
    : Problem<'Cluster API has no hook of this name'>;

/** A handler as its author writes it. */
export interface HandlerOptions<H extends HookName, N extends string = string, T extends number = number> {
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
export function handler<
  const H extends HookName | (string & {}),
  const N extends string,
  const T extends number = number,
>(hook: H & CheckedHook<H>, options: HandlerOptions<Extract<H, HookName>, N, T>): Handler<Extract<H, HookName>> {
  const definition = definitionOf(hook as HookName);
  // Objects of a class have their functions in its prototype, which is not copied.
  return { ...options, hook: definition, handle: options?.handle as unknown as Handler['handle'] };
}

/** @throws {TypeError} for what is not a hook. */
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
