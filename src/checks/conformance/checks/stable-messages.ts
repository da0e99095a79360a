import { type Check, ofAnswering } from '../check.ts';
import { messageOf } from '../heard.ts';
import { changingParts } from '../texts.ts';

export const check: Check = {
  id: 'stable-messages',
  group: 'Answers',
  level: 'must',
  asks: 'Messages contain no times, durations or counters, and are the same for the same cause.',
  why: 'They are written into conditions: a message that keeps changing makes controllers loop on their own writes.',
  remedy: 'say what the handler waits for or what is wrong, and nothing that changes by itself',
  run(trial, report) {
    const { first, second, call } = trial;
    return ofAnswering(trial, async (handler) => {
      const [one, other] = [await first(handler), await second(handler)];
      const malformed = [
        await call(handler, { body: '{"cluster": 5' }),
        await call(handler, { body: '{"cluster": 5' }),
      ];
      const texts = [one, other, ...malformed].map(messageOf);
      const parts = new Set(texts.flatMap(changingParts));
      if (parts.size > 0) {
        report({ handler: handler.name, message: `a message contains ${[...parts].join(' and ')}` });
      }
      if (texts[2] !== texts[3]) {
        report({ handler: handler.name, message: 'the same malformed request has different messages' });
      }
      const bothFail = [one, other].every((heard) => heard.kind === 'answer' && heard.response.status === 'Failure');
      if (bothFail && texts[0] !== texts[1]) {
        report({ handler: handler.name, message: 'the same request has different messages' });
      }
    });
  },
};
