import { type Check, ofAnswering } from '../check.ts';
import { messageOf } from '../heard.ts';
import { secretParts } from '../texts.ts';

/** Longest message that fits where users read it, in characters. */
const longMessage = 1024;

export const check: Check = {
  id: 'discreet-messages',
  group: 'Answers',
  level: 'must',
  asks: 'Messages contain no secrets, no stack traces, and at most 1,024 characters.',
  why: 'Since 1.14 every Failure message appears in a condition, where everyone who may read Clusters sees it.',
  remedy: 'write messages for users; put details for developers in the log',
  run(trial, report) {
    const { first, call } = trial;
    return ofAnswering(trial, async (handler) => {
      const texts = [await first(handler), await call(handler, { body: '{"cluster": 5' })].map(messageOf);
      const parts = new Set(texts.flatMap(secretParts));
      if (parts.size > 0) {
        // The text itself is not shown, since other people read this report as well.
        report({ handler: handler.name, message: `a message contains ${[...parts].join(' and ')}` });
      }
      const longest = Math.max(...texts.map((text) => text.length));
      if (longest > longMessage) {
        report({ handler: handler.name, message: `a message has ${longest} characters`, isWarning: true });
      }
    });
  },
};
