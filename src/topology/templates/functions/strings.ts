import { type Bytes, bytesOf, isSpaceRune, mapText, quoted, runeAt, runesOf } from '../../../base/go-text/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { type Budget, FunctionError } from '../budget.ts';
import { parsedInt64 } from '../values/numbers.ts';
import { sprint } from '../values/print.ts';
import { Dict, List, type TemplateFunction, type Value } from '../values/values.ts';
import { define, type Functions } from './define.ts';

/** A Go int as a number: what is beyond any text is cut to what a number can hold. */
export function numberOf(value: bigint): number {
  const max = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(value > max ? max : value < -max ? -max : value);
}

/** sprig's strslice: the texts of a list without its nulls, or of one value. A list of strings is returned as it is. */
export function textsOf(budget: Budget, value: Value): List {
  if (value instanceof List) {
    if (value.element === 'string') {
      return value;
    }
    const present = value.items.filter((item) => item !== null);
    return new List(
      present.map((item) => sprint(budget, [item])),
      'string',
    );
  }
  return new List(value === null ? [] : [sprint(budget, [value])], 'string');
}

export function repeated(budget: Budget, text: Bytes, count: bigint): Bytes {
  if (count < 0n) {
    throw new FunctionError('strings: negative Repeat count');
  }
  const times = text === '' ? 0 : numberOf(count);
  budget.write(text.length * times);
  return text.repeat(times);
}

/** strings.Split: an empty separator splits into characters. */
function splitText(budget: Budget, text: Bytes, separator: Bytes): Bytes[] {
  if (separator !== '') {
    budget.search(text, separator);
    return text.split(separator);
  }
  const parts: Bytes[] = [];
  for (let at = 0; at < text.length; ) {
    const { size } = runeAt(text, at);
    parts.push(text.slice(at, at + size));
    at += size;
  }
  return parts;
}

function splitTextN(budget: Budget, text: Bytes, separator: Bytes, limit: bigint): Bytes[] {
  if (limit === 0n) {
    return [];
  }
  const parts = splitText(budget, text, separator);
  const max = numberOf(limit);
  return limit < 0n || parts.length <= max ? parts : [...parts.slice(0, max - 1), parts.slice(max - 1).join(separator)];
}

const numbered = (parts: readonly Bytes[]): Dict =>
  new Dict(new Map(parts.map((part, index) => [`_${index}`, part])), 'string');

/** strings.Replace: an empty text to replace is between all characters, and before and after them. */
function replaced(budget: Budget, text: Bytes, old: Bytes, replacement: Bytes): Bytes {
  const parts = splitText(budget, text, old);
  const all = old === '' ? ['', ...parts, ''] : parts;
  budget.write(text.length + (all.length - 1) * Math.max(replacement.length - old.length, 0));
  return all.join(replacement);
}

function trimmed(text: Bytes, isCut: (code: number) => boolean): Bytes {
  let start = text.length;
  let end = 0;
  for (let at = 0; at < text.length; ) {
    const { code, size } = runeAt(text, at);
    if (!isCut(code)) {
      start = Math.min(start, at);
      end = at + size;
    }
    at += size;
  }
  return text.slice(start, Math.max(end, start));
}

const trimAll = define(['string', 'string'], ([cutset, text]) => {
  const cut = new Set(Array.from(runesOf(cutset), ({ code }) => code));
  return trimmed(text, (code) => cut.has(code));
});

/** The first bytes of words: Go takes each byte for a character. */
const initialsOf = (text: Bytes): Bytes =>
  bytesOf((text.match(/(?<![^\t\n\v\f\r \x85\xa0])[^\t\n\v\f\r \x85\xa0]/g) ?? []).join(''));

function wrapped(budget: Budget, text: Bytes, width: bigint, separator: Bytes, wrapsLongWords: boolean): Bytes {
  const length = Math.max(numberOf(width), 1);
  const lineBreak = separator === '' ? '\n' : separator;
  budget.write(text.length + Math.ceil(text.length / length) * lineBreak.length);
  let result = '';
  let offset = 0;
  while (text.length - offset > length) {
    if (text[offset] === ' ') {
      offset++;
      continue;
    }
    const space = text.slice(offset, offset + length + 1).lastIndexOf(' ');
    const endOfLong = wrapsLongWords ? offset + length : text.indexOf(' ', offset + length);
    const end = space >= 0 ? offset + space : endOfLong;
    if (end === -1) {
      break;
    }
    result += text.slice(offset, end) + lineBreak;
    offset = text[end] === ' ' ? end + 1 : end;
  }
  return result + text.slice(offset);
}

function abbreviated(text: Bytes, left: number, width: number): Bytes {
  if (text === '' || text.length <= width) {
    return text;
  }
  let offset = Math.min(left, text.length);
  if (text.length - offset < width - 3) {
    offset = text.length - (width - 3);
  }
  if (offset <= 4) {
    return `${text.slice(0, width - 3)}...`;
  }
  if (width < 7) {
    return '';
  }
  return offset + width - 3 < text.length
    ? `...${abbreviated(text.slice(offset), 0, width - 3)}`
    : `...${text.slice(text.length - (width - 3))}`;
}

/** A cut of a text as Go does it, where what is out of range panics. */
function cut(text: Bytes, start: bigint, end: bigint): Bytes {
  const { length } = text;
  if (start < 0n) {
    if (end < 0n || end > BigInt(length)) {
      throw new FunctionError(
        `runtime error: slice bounds out of range [:${end}]${end < 0n ? '' : ` with length ${length}`}`,
      );
    }
    return text.slice(0, Number(end));
  }
  const isOpen = end < 0n || end > BigInt(length);
  const stop = isOpen ? BigInt(length) : end;
  if (start > stop) {
    throw new FunctionError(`runtime error: slice bounds out of range [${start}:${stop}]`);
  }
  return text.slice(Number(start), Number(stop));
}

function indented(budget: Budget, spaces: bigint, text: Bytes): Bytes {
  const pad = repeated(budget, ' ', spaces);
  return pad + replaced(budget, text, '\n', `\n${pad}`);
}

function mapped(char: string, change: (char: string) => string): string {
  const result = change(char);
  return [...result].length === 1 ? result : char;
}

const upperOf = (char: string): string => mapped(char, (one) => one.toUpperCase());

function lowerOf(char: string): string {
  // Its full mapping has a dot of its own.
  return char === '\u0130' ? 'i' : mapped(char, (one) => one.toLowerCase());
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all but ASCII
const other = /[^\x00-\x7f]/gu;

const toUpper = (text: string): string =>
  text.replaceAll(/[a-z]+/g, (run) => run.toUpperCase()).replaceAll(other, upperOf);

const toLower = (text: string): string =>
  text.replaceAll(/[A-Z]+/g, (run) => run.toLowerCase()).replaceAll(other, lowerOf);

/** White space of Unicode, as in unicode.IsSpace. */
const space = '\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const firstOfWord = new RegExp(`(?<![^${space}])[^${space}]`, 'gu');
/** Its first character, capitals right after it, the rest, and the connectors after it. */
const word = new RegExp(`([^${space}_-])(\\p{Lu}*)([^${space}_-]*)([${space}_-]*)`, 'gu');
const onlyConnectors = new RegExp(`^[${space}_-]*$`, 'u');

const untitled = (text: Bytes): Bytes => mapText(text, (decoded) => decoded.replaceAll(firstOfWord, lowerOf));

/** The words of a text without a connector between them; those of capitals are capitalized. */
function toPascalCase(text: Bytes): Bytes {
  return mapText(text, (decoded) => {
    if (onlyConnectors.test(decoded)) {
      // The last connector is written twice.
      return decoded + decoded.slice(-1);
    }
    return decoded.replaceAll(word, (all, first: string, capitals: string, rest: string, gap: string, at: number) => {
      const isLast = at + all.length === decoded.length;
      const shown = /\p{Lu}/u.test(first) ? toLower(capitals) : capitals;
      return upperOf(first) + shown + rest + (isLast ? gap : gap.slice(0, -1));
    });
  });
}

/** Lower case words with a connector between them, as xstrings splits them: `HTTPServer` is HTTP and Server. */
function withConnector(text: Bytes, connector: string): Bytes {
  return mapText(text, (decoded) =>
    toLower(
      decoded
        // A number belongs to the lower case letters after it: `HTTP2xx` is http_2xx.
        .replaceAll(/(\p{L})(\p{N}+\p{Ll}[\p{N}\p{Ll}]*)/gu, '$1_$2')
        .replaceAll(/(?<=[\p{Ll}\p{Lo}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, '_'),
    ).replaceAll(/[-_\s]/g, connector),
  );
}

function sorted(budget: Budget, value: Value): List {
  if (!(value instanceof List)) {
    return new List([sprint(budget, [value])], 'string');
  }
  const texts = textsOf(budget, value);
  (texts.items as Bytes[]).sort();
  return texts;
}

function joined(values: readonly Value[], textOf: (value: Value) => Bytes): Bytes {
  return values
    .filter((value) => value !== null)
    .map(textOf)
    .join(' ');
}

/** A function that looks at each character, which takes several times as long as to copy the text. */
export function perCharacter(change: (text: Bytes) => Bytes): TemplateFunction {
  return define(['string'], ([text], budget) => {
    budget.read(text.length * 8);
    return change(text);
  });
}

export const stringFunctions: Functions = {
  hello: define([], () => 'Hello!'),
  abbrev: define(['int', 'string'], ([width, text]) => (width < 4n ? text : abbreviated(text, 0, numberOf(width)))),
  abbrevboth: define(['int', 'int', 'string'], ([left, right, text]) =>
    right < 4n || (left > 0n && right < 7n) ? text : abbreviated(text, numberOf(left), numberOf(right)),
  ),
  trunc: define(['int', 'string'], ([count, text]) => {
    const size = numberOf(count);
    return size < 0 ? text.slice(text.length + size > 0 ? size : 0) : text.slice(0, size);
  }),
  trim: define(['string'], ([text]) => trimmed(text, isSpaceRune)),
  upper: define(['string'], ([text]) => mapText(text, toUpper)),
  lower: define(['string'], ([text]) => mapText(text, toLower)),
  untitle: perCharacter(untitled),
  substr: define(['int', 'int', 'string'], ([start, end, text]) => cut(text, start, end)),
  repeat: define(['int', 'string'], ([count, text], budget) => repeated(budget, text, count)),
  trimall: trimAll,
  trimAll,
  trimSuffix: define(['string', 'string'], ([suffix, text]) =>
    text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text,
  ),
  trimPrefix: define(['string', 'string'], ([prefix, text]) =>
    text.startsWith(prefix) ? text.slice(prefix.length) : text,
  ),
  initials: perCharacter(initialsOf),
  snakecase: perCharacter((text) => withConnector(text, '_')),
  kebabcase: perCharacter((text) => withConnector(text, '-')),
  camelcase: perCharacter(toPascalCase),
  wrap: define(['int', 'string'], ([width, text], budget) => wrapped(budget, text, width, '', false)),
  wrapWith: define(['int', 'string', 'string'], ([width, separator, text], budget) =>
    wrapped(budget, text, width, separator, true),
  ),
  contains: define(['string', 'string'], ([part, text], budget) => {
    budget.search(text, part);
    return text.includes(part);
  }),
  hasPrefix: define(['string', 'string'], ([prefix, text]) => text.startsWith(prefix)),
  hasSuffix: define(['string', 'string'], ([suffix, text]) => text.endsWith(suffix)),
  quote: define(['...any'], (values, budget) => joined(values, (value) => quoted(sprint(budget, [value])))),
  squote: define(['...any'], (values, budget) => joined(values, (value) => `'${sprint(budget, [value])}'`)),
  cat: define(['...any'], (values, budget) => joined(values, (value) => sprint(budget, [value]))),
  indent: define(['int', 'string'], ([spaces, text], budget) => indented(budget, spaces, text)),
  nindent: define(['int', 'string'], ([spaces, text], budget) => `\n${indented(budget, spaces, text)}`),
  replace: define(['string', 'string', 'string'], ([old, replacement, text], budget) =>
    replaced(budget, text, old, replacement),
  ),
  plural: define(['string', 'string', 'int'], ([one, many, count]) => (count === 1n ? one : many)),
  toString: define(['any'], ([value], budget) => sprint(budget, [value])),
  atoi: define(['string'], ([text]) => parsedInt64(text)),
  split: define(['string', 'string'], ([separator, text], budget) => numbered(splitText(budget, text, separator))),
  splitn: define(['string', 'int', 'string'], ([separator, limit, text], budget) =>
    numbered(splitTextN(budget, text, separator, limit)),
  ),
  splitList: define(
    ['string', 'string'],
    ([separator, text], budget) => new List(splitText(budget, text, separator), 'string'),
  ),
  toStrings: define(['any'], ([value], budget) => textsOf(budget, value)),
  join: define(['string', 'any'], ([separator, value], budget) => {
    const { items } = textsOf(budget, value);
    budget.write((items as Bytes[]).reduce((sum, item) => sum + item.length + separator.length, 0));
    return items.join(separator);
  }),
  sortAlpha: define(['any'], ([value], budget) => sorted(budget, value)),
  shuffle: define(['string'], ([text]) => {
    if (/^(.?)\1*$/s.test(text)) {
      return text;
    }
    throw new NotKnown('the template calls shuffle, which returns another result each time', { remedy: 'remove it' });
  }),
  fail: define(['string'], ([message]) => {
    throw new FunctionError(message);
  }),
};
