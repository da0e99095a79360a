import { setTimeout as sleep } from 'node:timers/promises';
import { quotable } from '../../../runtimehooks/client/index.ts';
import { messageProblem, unknownFields } from '../../../runtimehooks/messages/index.ts';
import { type Check, ofAnswering } from '../define-check.ts';
import {
  describe,
  difference,
  isBlocking,
  isFailure,
  isSameOutcome,
  isSuccess,
  messageOf,
  shownMessage,
} from '../outcome.ts';
import { changingParts, secretParts } from '../unwanted-text.ts';

/** Longest wait that is not warned about, in seconds: Cluster API does not ask earlier, whatever else changes. */
const longSeconds = 600;
/** Longest message that fits where users read it, in characters. */
const longMessage = 1024;

/** How long after another call a time in its message is another one, to the second, in ms. */
const changingMs = 1_100;

/** Half a request, which every handler has to refuse: messages of failures are those of their parsers. */
const malformed = { body: '{"cluster": 5' };

/** The checks of what handlers answer, whatever their hook. */
export const answerChecks: readonly Check[] = [
  {
    id: 'success',
    level: 'must',
    requirement: 'The test request is answered with Success.',
    reason: 'A handler that always answers Failure is not tested: the checks of a success have nothing to check.',
    remedy: 'pass a request that the extension can process: --request FILE',
    run: ofAnswering(async (handler, report) => {
      const outcome = await handler.first();
      if (isFailure(outcome)) {
        const message = shownMessage(outcome);
        const text = `answers Failure${message === '' ? ' without a message' : `: ${message}`}`;
        report(text, isSuccess(await handler.second()));
      }
    }),
  },
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
      const isSame = isBlocking(one) ? one.response?.status === other.response?.status : isSameOutcome(one, other);
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
        for (const { response } of [await handler.first(), await handler.second()]) {
          const seconds = response?.retryAfterSeconds;
          if (typeof seconds === 'number' && (seconds < 0 || !Number.isInteger(seconds))) {
            report(`retryAfterSeconds is ${seconds}`);
            return;
          }
          if (typeof seconds === 'number' && seconds > longSeconds) {
            report(`retryAfterSeconds is ${seconds}: more than ten minutes`, true);
            return;
          }
        }
      },
      'no handler that is called can block',
      ({ hook }) => hook.isBlocking,
    ),
  },
  {
    id: 'stable-messages',
    level: 'must',
    requirement: 'Messages contain no times, durations or counters, and are the same for the same cause.',
    reason:
      'They are written into conditions: a message that keeps changing makes controllers loop on their own writes.',
    remedy: 'say what the handler waits for or what is wrong, and nothing that changes by itself',
    run: ofAnswering(async (handler, report) => {
      const outcomes = [await handler.first(), await handler.second()];
      const [one = '', other, ...refused] = [
        ...outcomes,
        await handler.call(malformed),
        await handler.call(malformed),
      ].map(messageOf);
      const parts = new Set<string>();
      for (const [text, variation] of [
        [one, {}],
        [refused[0] ?? '', malformed],
      ] as const) {
        const suspects = changingParts(text);
        if (suspects.length > 0) {
          // What is the same later, such as the time at which a Cluster was created, does not change by itself.
          await sleep(changingMs);
          const isConstant = messageOf(await handler.call(variation)) === text;
          for (const part of isConstant ? [] : suspects) {
            parts.add(part);
          }
        }
      }
      if (parts.size > 0) {
        report(`a message contains ${[...parts].join(' and ')}`);
      }
      if (refused[0] !== refused[1]) {
        report('the same malformed request gets different messages');
      }
      if (one !== other && outcomes.every(isFailure)) {
        report('the same request gets different messages');
      }
    }),
  },
  {
    id: 'discreet-messages',
    level: 'must',
    requirement: 'Messages contain no secrets, no stack traces, and at most 1,024 characters.',
    reason: 'Since 1.14 every Failure message appears in a condition, where everyone who may read Clusters sees it.',
    remedy: 'write messages for users; put details for developers in the log',
    run: ofAnswering(async (handler, report) => {
      const texts = [await handler.first(), await handler.call(malformed)].map(messageOf);
      const parts = new Set(texts.flatMap(secretParts));
      if (parts.size > 0) {
        // The text itself is not shown, since other people read this report as well.
        report(`a message contains ${[...parts].join(' and ')}`);
      }
      const longest = Math.max(...texts.map((text) => text.length));
      if (longest > longMessage) {
        report(`a message has ${longest} characters`, true);
      }
    }),
  },
];
