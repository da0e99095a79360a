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

/** The start of a private key in a text of several lines. */
const privateKey = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/;

/** Secrets. What is labelled as one begins after its label. */
const secrets: readonly Unwanted[] = [
  { what: 'a private key', expressions: [privateKey] },
  { what: 'a token (JWT)', expressions: [/\beyJ[\w-]{8,16}/] },
  { what: 'an access key', expressions: [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/, /\bgh[pousr]_\w{36}/] },
  {
    what: 'something labelled as a password, token or secret',
    expressions: [
      /(?<label>\b(?:password|passwd|passphrase|token|api[-_]?key|client[-_]?secret|secret[-_]?key)["']? ?[=:] ?["']?)[^\s"']{4}/i,
    ],
  },
  { what: 'a URL with a password', expressions: [/:\/\/[^/\s:@]{1,100}:[^/\s:@]{1,100}@/] },
  { what: 'a bearer token', expressions: [/(?<label>\bBearer )[\w.~+/-]{16}/i] },
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
export const secretParts = (text: string): string[] => wordsOf([...secrets, stackTrace], text);

/** Where the first secret of a line begins; undefined if it has none. */
function secretAt(line: string): number | undefined {
  const starts = secrets.flatMap(({ expressions }) =>
    expressions.flatMap((expression) => {
      const match = expression.exec(line);
      return match === null ? [] : [match.index + (match.groups?.label?.length ?? 0)];
    }),
  );
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/** A text without secrets: each is left out with the rest of its line, a private key up to its last line. */
export function withoutSecrets(text: string): string {
  let isInKey = false;
  const lines = text.split('\n').map((line) => {
    if (isInKey) {
      isInKey = !line.includes('-----END ');
      return line.replace(/\S.*/, notShown);
    }
    const at = secretAt(line);
    isInKey = privateKey.test(line) && !line.includes('-----END ');
    return at === undefined ? line : `${line.slice(0, at)}${notShown}`;
  });
  return lines.join('\n');
}

const notShown = '(not shown)';
