import { setTimeout as sleep } from 'node:timers/promises';
import { secretShapes } from '../../../base/secrets/index.ts';
import { quotable } from '../../../runtimehooks/client/index.ts';
import { messageProblem, unknownFields } from '../../../runtimehooks/messages/index.ts';
import { describe, difference, isFailure, isSameOutcome, isSuccess, messageOf, type Outcome } from '../outcome.ts';
import { type Check, ofAnswering } from '../trial.ts';

const changing: readonly [what: string, ...RegExp[]][] = [
  [
    'a time',
    /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/,
    /\b\d{2}:\d{2}:\d{2}\b/,
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/,
    // Seconds or milliseconds since 1970, from 2017 to 2033.
    /(?:^|\D)(?:1[5-9]\d{8}|1[5-9]\d{11})(?:\D|$)/,
  ],
  ['a measured duration', /\b\d{1,9}\.\d{1,9} ?(?:ms|s|µs)\b/],
  ['an address in memory', /\b0x[0-9a-f]{8,16}\b/],
];

const stackTrace = /\n\s{1,8}at \S|goroutine \d{1,9} \[|Traceback \(most recent call last\)/;

const changingParts = (text: string): string[] =>
  changing.filter(([, ...expressions]) => expressions.some((one) => one.test(text))).map(([what]) => what);

const secretParts = (text: string): string[] => [
  ...secretShapes(text),
  ...(stackTrace.test(text) ? ['a stack trace'] : []),
];

/** The message of a response as a report may show it: truncated, and omitted if it contains a secret. */
export function shownMessage(outcome: Outcome): string {
  const message = messageOf(outcome);
  return secretParts(message).length > 0 ? '(a message that should not be shown)' : quotable(message, 200);
}

/** Longest wait that is not warned about, in seconds: Cluster API does not ask earlier, whatever else changes. */
const longSeconds = 600;
const longMessage = 1024;

/** How long after another call a time in its message is another one, to the second, in ms. */
const changingMs = 1_100;

/** Half a request, which every handler has to refuse: messages of failures are those of their parsers. */
const malformed = { body: '{"cluster": 5' };

/** The checks of what handlers answer, whatever their hook. */
export const answerChecks: readonly Check[] = [
  {
    id: 'known-fields',
    level: 'should',
    requirement: 'Answers have all required fields of the hook, and none that it does not define.',
    reason:
      'Cluster API silently ignores unknown fields, so a misspelt one is lost (even the book has boostrapConfigPatch).',
    remedy: 'compare with "hooks HOOK"; answer retryAfterSeconds: 0 when there is nothing to wait for',
    run: ofAnswering(async (handler, report) => {
      const outcome = await handler.first();
      if (isSuccess(outcome)) {
        const { group, version, response } = handler.hook;
        const typed = { ...outcome.response, apiVersion: `${group}/${version}`, kind: response.kind };
        const problem = messageProblem(handler.hook, 'response', typed);
        if (problem !== undefined) {
          report(`${quotable(problem.field, 100)} ${quotable(problem.message, 200)}`);
        }
        for (const field of unknownFields(handler.hook, 'response', typed)) {
          report(`${quotable(field, 100)} is not a field of this answer`);
        }
      }
    }),
  },
  {
    id: 'repeatable',
    level: 'must',
    requirement: 'The same call gets the same answer twice, unless it blocked the first time.',
    reason:
      'Any call may be repeated after it succeeded: because another handler blocked, the controller restarted, or a write after the call failed.',
    remedy: 'make handlers idempotent: check the current state, and derive the answer only from the request',
    run: ofAnswering(async (handler, report) => {
      const [one, other] = [await handler.first(), await handler.second()];
      const isBlocking = isSuccess(one) && Number(one.response.retryAfterSeconds ?? 0) > 0;
      const isSame = isBlocking ? one.response?.status === other.response?.status : isSameOutcome(one, other);
      if (other.error !== undefined) {
        report(`called again, it ${describe(other)}`);
      } else if (!isSame) {
        report(difference(one, other));
      } else if (handler.isUnsteady) {
        report('called again and again, it does not always give the same answer');
      }
    }),
  },
  {
    id: 'sane-retries',
    level: 'must',
    requirement: 'retryAfterSeconds is 0 or a whole number of seconds up to ten minutes.',
    reason:
      'Since 1.12 Cluster API does not call again earlier, even if the user changes the target; a negative number blocks too.',
    remedy: 'answer between a few seconds and a few minutes while work is in progress, and 0 when it is done',
    run: ofAnswering(
      async (handler, report) => {
        const outcomes = [await handler.first(), await handler.second()];
        const waits = outcomes.map(({ response }) => Number(response?.retryAfterSeconds ?? 0));
        const bad = waits.find((seconds) => seconds < 0 || seconds > longSeconds);
        if (bad !== undefined) {
          report(`retryAfterSeconds is ${bad}${bad > 0 ? ': more than ten minutes' : ''}`, bad > 0);
        }
      },
      'no handler that is called can block',
      ({ hook }) => hook.isBlocking,
    ),
  },
  {
    id: 'messages',
    level: 'must',
    requirement:
      'Messages are the same for the same cause, without times, durations and counters, have no secrets and no stack traces, and at most 1,024 characters.',
    reason:
      'They are written into conditions, where everyone who may read Clusters sees them: one that keeps changing makes controllers loop on their own writes.',
    remedy: 'say, for users, what the handler waits for or what is wrong; put details for developers in the log',
    run: ofAnswering(async (handler, report) => {
      const parts = new Set<string>();
      let longest = 0;
      for (const variation of [{}, malformed]) {
        const one = variation === malformed ? await handler.call(malformed) : await handler.first();
        const other = variation === malformed ? await handler.call(malformed) : await handler.second();
        const message = messageOf(one);
        const suspects = changingParts(message);
        if (suspects.length > 0) {
          // What is the same later, such as the time at which a Cluster was created, does not change by itself.
          await sleep(changingMs);
        }
        const isConstant = suspects.length === 0 || messageOf(await handler.call(variation)) === message;
        for (const part of [...(isConstant ? [] : suspects), ...secretParts(message)]) {
          parts.add(part);
        }
        if (message !== messageOf(other) && (variation === malformed || (isFailure(one) && isFailure(other)))) {
          report(`the same ${variation === malformed ? 'malformed ' : ''}request gets different messages`);
        }
        longest = Math.max(longest, message.length);
      }
      if (longest > longMessage) {
        report(`a message has ${longest} characters`, true);
      }
      if (parts.size > 0) {
        // The text itself is not shown, since other people read this report as well.
        report(`a message contains ${[...parts].join(' and ')}`);
      }
    }),
  },
];
