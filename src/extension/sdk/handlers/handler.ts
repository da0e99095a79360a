import type { Log } from '../../../base/index.ts';
import { dns1123LabelProblems } from '../../../kubernetes/index.ts';
import {
  advisedTimeoutSeconds,
  formatHook,
  type HookDefinition,
  hooks,
  maxHandlers,
  maxTimeoutSeconds,
} from '../../../runtimehooks/index.ts';
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
  /** Whose work it is, as `createJobs` scopes keys: hook, handler, and namespace, name and uid of what the call is about. */
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
   * Answers a call. It may come again after it succeeded, and to another replica: the same request must have the same
   * answer, and work is not done twice. An exception is logged, and not revealed; a `HandlerFailure` is, with its message.
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
  // An object of a class has it in its prototype, which is not copied.
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

function describeHandler({ name, hook }: Handler): string {
  return `handler ${JSON.stringify(name)} of ${formatHook(hook)}`;
}

/** Handlers that Cluster API would reject, or that no call would ever reach: all problems at once, one per line. */
export class HandlersError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the handlers cannot be served:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Checks handlers as Cluster API does at discovery, and beyond; returns warnings. @throws {HandlersError} */
export function acceptedHandlers(handlers: readonly Handler[]): readonly string[] {
  const problems: string[] = [];
  const warnings: string[] = [];
  if (handlers.length === 0) {
    problems.push('handlers is empty: Cluster API would never call this extension');
  }
  if (handlers.length > maxHandlers) {
    problems.push(`there are ${handlers.length} handlers: an ExtensionConfig takes at most ${maxHandlers}`);
  }
  const names = new Map<string, Handler>();
  const inPlace = new Map<string, Handler>();
  for (const [index, handler] of handlers.entries()) {
    if (typeof handler?.hook?.request !== 'object') {
      problems.push(`handlers[${index}] is not a handler: create it with handler(hook, { name, handle })`);
      continue;
    }
    const { name, hook, timeoutSeconds, failurePolicy } = handler;
    const who = describeHandler(handler);
    problems.push(...dns1123LabelProblems(name).map((problem) => `${who}: the name ${problem}`));
    const namesake = names.get(name);
    if (namesake !== undefined) {
      problems.push(`${who}: ${describeHandler(namesake)} has the same name; names are unique over all hooks`);
    }
    names.set(name, handler);
    if (hook.singleton) {
      problems.push(`${who}: the server answers ${hook.name} itself; leave this handler out`);
    }
    if (timeoutSeconds !== undefined) {
      if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 1 || timeoutSeconds > maxTimeoutSeconds) {
        problems.push(
          `${who}: timeoutSeconds ${timeoutSeconds} is not a whole number from 1 to ${maxTimeoutSeconds}; long work goes to the background`,
        );
      } else if (timeoutSeconds > advisedTimeoutSeconds) {
        warnings.push(
          `${who}: timeoutSeconds ${timeoutSeconds} is more than ${advisedTimeoutSeconds}: reconciling a Cluster ends after a minute, all handlers together`,
        );
      }
    }
    if (failurePolicy === 'Ignore' && hook.isBlocking) {
      warnings.push(`${who}: with failurePolicy Ignore an outage of this server lets through what it should block`);
    }
    if (hook.calls === 'only') {
      const key = formatHook(hook);
      const other = inPlace.get(key);
      if (other !== undefined) {
        problems.push(`${who}: ${describeHandler(other)} serves the same hook, of which Cluster API accepts one`);
      }
      inPlace.set(key, handler);
    }
  }
  if (problems.length > 0) {
    throw new HandlersError(problems);
  }
  return warnings;
}
