import { defaultTimeoutSeconds } from '../../../runtimehooks/client/index.ts';
import type { Check } from '../check.ts';

/** Longest timeout that is not warned about, in seconds: the Runtime SDK's recommendation. */
const advisedSeconds = 10;

export const check: Check = {
  id: 'discovery-advice',
  group: 'Discovery',
  level: 'should',
  asks: 'Handlers ask for timeouts of at most 10 seconds, and hooks that can block have the failurePolicy Fail.',
  why: 'A reconcile has one minute for all its handlers; with Ignore, operations that should wait go ahead during an outage.',
  remedy: 'do long work in the background and answer with retryAfterSeconds; use Fail unless the work may be skipped',
  async run({ discovery, handlers }, report) {
    if (discovery.handlers.length === 0) {
      return { because: 'Discovery offers no handlers' };
    }
    const blocking = new Set(handlers.filter(({ hook }) => hook.isBlocking).map(({ name }) => name));
    for (const { name, timeoutSeconds = defaultTimeoutSeconds, failurePolicy } of discovery.handlers) {
      const handler = name.slice(0, name.lastIndexOf('.'));
      if (timeoutSeconds > advisedSeconds) {
        report({ handler, message: `asks for ${timeoutSeconds} seconds` });
      }
      if (failurePolicy === 'Ignore' && blocking.has(handler)) {
        report({ handler, message: 'can block but has the failurePolicy Ignore' });
      }
    }
    return undefined;
  },
};
