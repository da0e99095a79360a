import { secretShapes } from '../../base/secrets/index.ts';

/** Something that messages must not contain, and how it is recognized. */
interface Unwanted {
  what: string;
  expressions: readonly RegExp[];
}

/** Texts that differ from call to call. */
const changing: readonly Unwanted[] = [
  {
    what: 'a time',
    expressions: [
      /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/,
      /\b\d{2}:\d{2}:\d{2}\b/,
      /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/,
      // Seconds or milliseconds since 1970, from 2017 to 2033.
      /(?:^|\D)(?:1[5-9]\d{8}|1[5-9]\d{11})(?:\D|$)/,
    ],
  },
  { what: 'a measured duration', expressions: [/\b\d{1,9}\.\d{1,9} ?(?:ms|s|µs)\b/] },
  { what: 'an address in memory', expressions: [/\b0x[0-9a-f]{8,16}\b/] },
];

const stackTrace: Unwanted = {
  what: 'a stack trace',
  expressions: [/\n\s{1,8}at \S/, /goroutine \d{1,9} \[/, /Traceback \(most recent call last\)/],
};

const wordsOf = (unwanted: readonly Unwanted[], text: string) =>
  unwanted.filter(({ expressions }) => expressions.some((one) => one.test(text))).map(({ what }) => what);

/** Parts of a message that differ from call to call. */
export const changingParts = (text: string): string[] => wordsOf(changing, text);

/** Parts of a message that do not belong in a condition. */
export const secretParts = (text: string): string[] => [...secretShapes(text), ...wordsOf([stackTrace], text)];
