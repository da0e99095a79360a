import { Buffer } from 'node:buffer';
import { notShown } from './recognized.ts';

/** Shorter values are hidden in their own place only: they are in many texts by chance. */
const minLength = 4;
/** Shorter values are found as words of their own only. */
const minWithin = 8;
/** Shorter lines of a value of several lines are not looked for. */
const minLine = 12;
/** Longer texts are looked for in pieces of this length. */
const pieceLength = 256;
const common = new Set('true false null none auto default disabled enabled required optional'.split(' '));

const goQuoted = (json: string) => json.replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
const jsonOf = (text: string) => JSON.stringify(text).slice(1, -1);

/** The characters of a value in base64 that are the same whatever is before and after it there: for each of three alignments. */
function base64Within(bytes: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const isPartial = (offset + bytes.length) % 3 !== 0;
    return encoded.slice(Math.ceil((offset * 4) / 3), isPartial ? -1 : undefined);
  });
}

/** A number as Go prints it in Cluster API's messages, and in templates. */
const numbersOf = (value: number) => [String(value), value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')];

function writtenAs(value: string): string[] {
  const json = jsonOf(value);
  const bytes = Buffer.from(value);
  const base64 = [bytes.toString('base64'), ...base64Within(bytes)];
  const bytes64 = Buffer.from(base64[0] ?? '');
  const url = encodeURIComponent(value.toWellFormed());
  return [
    ...[value, json, goQuoted(json), jsonOf(json), jsonOf(goQuoted(json)), value.replaceAll("'", "''")],
    ...[url, url.replaceAll('%20', '+'), bytes.toString('hex')],
    ...[...base64, ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))],
    bytes64.toString('base64'),
    ...base64Within(bytes64),
    ...(value.includes('\n')
      ? value
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line.length >= minLine)
      : []),
  ];
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = text.length - from < pieceLength + minWithin ? text.length : from + pieceLength;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

const isWordCharacter = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char);

/** Texts in lower case, of the same length. */
const folded = (text: string): string => {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
};

/**
 * Returns a function that hides values in a text, in linear time: as they are or with other capitals, escaped as in JSON, YAML
 * or a URL, in hexadecimal and base64, also within longer base64. What was cut, hashed or encrypted is another value.
 *
 * @param values each of at least four characters; of fewer than eight, found only as a word.
 * @param known texts that are not secret, such as names of objects.
 */
export function followed(
  values: Iterable<string | number>,
  known: ReadonlySet<string> = new Set(),
): (text: string) => string {
  const isFollowed = (text: string) => text.length >= minLength && !common.has(folded(text)) && !known.has(text);
  const written = [...new Set(values)]
    .flatMap((value) => (typeof value === 'number' ? numbersOf(value) : [value, value.trim()]))
    .filter(isFollowed)
    .flatMap(writtenAs)
    .filter(isFollowed);
  const hidden = new Set(written.flatMap(piecesOf).map(folded));
  /** By their first characters: the lengths that values have, longest first. At most `pieceLength + minWithin` of them. */
  const lengths = new Map<string, Set<number>>();
  for (const text of [...hidden].toSorted((a, b) => b.length - a.length)) {
    const start = text.slice(0, minLength);
    lengths.set(start, (lengths.get(start) ?? new Set()).add(text.length));
  }

  function lengthAt(text: string, at: number): number {
    for (const length of lengths.get(text.slice(at, at + minLength)) ?? []) {
      const end = at + length;
      const isWord = () => !isWordCharacter(text[at - 1]) && !isWordCharacter(text[end]);
      if (end <= text.length && hidden.has(text.slice(at, end)) && (length >= minWithin || isWord())) {
        return length;
      }
    }
    return 0;
  }

  return (text) => {
    if (hidden.size === 0 || text.length < minLength) {
      return text;
    }
    const searched = folded(text);
    let shown = '';
    let from = 0;
    for (let at = 0; at < text.length; ) {
      const length = lengthAt(searched, at);
      if (length > 0) {
        shown += text.slice(from, at) + (from === at && shown.endsWith(notShown) ? '' : notShown);
        from = at + length;
      }
      at += length || 1;
    }
    return shown + text.slice(from);
  };
}
