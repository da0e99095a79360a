import { dns1123LabelProblems } from '../../../kubernetes/index.ts';
import { advisedTimeoutSeconds, formatHook, maxHandlers, maxTimeoutSeconds } from '../../../runtimehooks/index.ts';
import { describeHandler, type Handler } from './handler.ts';

/** Handlers that Cluster API would reject, or that no call would ever reach: all problems at once, one per line. */
export class HandlersError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the handlers cannot be served:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Checks handlers before they are served, as Cluster API does at discovery, and beyond: with Go's server such mistakes only
 * show there.
 *
 * @returns the warnings.
 * @throws {HandlersError} when Cluster API would reject them.
 */
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
      problems.push(
        `${who}: ${describeHandler(namesake)} has the same name; names are unique over the whole server, also over hooks`,
      );
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
        problems.push(
          `${who}: ${describeHandler(other)} serves the same hook; Cluster API accepts only one handler of it`,
        );
      }
      inPlace.set(key, handler);
    }
  }
  if (problems.length > 0) {
    throw new HandlersError(problems);
  }
  return warnings;
}
