import type { Check } from '../check.ts';

/** Longest wait that is not warned about, in seconds: Cluster API does not ask earlier, whatever else changes. */
const longSeconds = 600;

export const check: Check = {
  id: 'sane-retries',
  group: 'Answers',
  level: 'must',
  asks: 'retryAfterSeconds is 0 or a whole number of seconds up to ten minutes, and only in a Success.',
  why: 'Since 1.12 Cluster API does not call again earlier, even if the user changes the target; a negative number blocks too, and in a Failure the field has no effect.',
  remedy: 'answer between a few seconds and a few minutes while work is in progress, and 0 when it is done',
  async run({ answering, first, second }, report) {
    const handlers = (await answering()).filter(({ hook }) => hook.isBlocking);
    if (handlers.length === 0) {
      return { because: 'no handler that is called can block' };
    }
    for (const handler of handlers) {
      const seen = new Set<string>();
      for (const heard of [await first(handler), await second(handler)]) {
        const { retryAfterSeconds: seconds, status } = heard.kind === 'answer' ? heard.response : {};
        if (typeof seconds !== 'number' || seconds === 0) {
          continue;
        }
        const problem =
          seconds < 0 || !Number.isInteger(seconds)
            ? { message: `retryAfterSeconds is ${seconds}` }
            : status !== 'Success'
              ? { message: 'a Failure has retryAfterSeconds, which has no effect there', isWarning: true }
              : seconds > longSeconds
                ? { message: `retryAfterSeconds is ${seconds}: more than ten minutes`, isWarning: true }
                : undefined;
        if (problem !== undefined && !seen.has(problem.message)) {
          seen.add(problem.message);
          report({ handler: handler.name, ...problem });
        }
      }
    }
    return undefined;
  },
};
