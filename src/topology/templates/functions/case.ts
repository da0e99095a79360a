import { type Bytes, bytesOf, isSpaceRune, mapText, runeAt } from '../../../base/go-text/index.ts';

/** The simple mapping of one character: one that would become several stays, as in Go. */
function mapped(char: string, change: (char: string) => string): string {
  const result = change(char);
  return [...result].length === 1 ? result : char;
}

function upperOf(char: string): string {
  return mapped(char, (one) => one.toUpperCase());
}

function lowerOf(char: string): string {
  // Its full mapping has a dot of its own.
  return char === '\u0130' ? 'i' : mapped(char, (one) => one.toLowerCase());
}

/** Letters for two characters, whose title case is not their upper case. */
const titles: Readonly<Record<string, string>> = {
  Ǆ: 'ǅ',
  ǆ: 'ǅ',
  ǅ: 'ǅ',
  Ǉ: 'ǈ',
  ǉ: 'ǈ',
  ǈ: 'ǈ',
  Ǌ: 'ǋ',
  ǌ: 'ǋ',
  ǋ: 'ǋ',
  Ǳ: 'ǲ',
  ǳ: 'ǲ',
  ǲ: 'ǲ',
};

function titleChar(char: string): string {
  return titles[char] ?? upperOf(char);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all but ASCII
const other = /[^\x00-\x7f]/gu;

export function toUpper(text: string): string {
  return text.replaceAll(/[a-z]+/g, (run) => run.toUpperCase()).replaceAll(other, upperOf);
}

export function toLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (run) => run.toLowerCase()).replaceAll(other, lowerOf);
}

function isSpaceChar(char: string): boolean {
  return isSpaceRune(char.codePointAt(0) ?? 0);
}

/** What ends a word for strings.Title. */
function isSeparator(char: string): boolean {
  if (/^[A-Za-z0-9_]$/.test(char)) {
    return false;
  }
  return char < '\x80' || (!/^[\p{L}\p{Nd}]$/u.test(char) && isSpaceChar(char));
}

export function titleOf(text: Bytes): Bytes {
  return mapText(text, (decoded) => {
    let before = ' ';
    let result = '';
    for (const char of decoded) {
      result += isSeparator(before) ? titleChar(char) : char;
      before = char;
    }
    return result;
  });
}

export function untitled(text: Bytes): Bytes {
  return mapText(text, (decoded) => {
    let isNext = true;
    let result = '';
    for (const char of decoded) {
      const isGap = isSpaceChar(char);
      result += !isGap && isNext ? lowerOf(char) : char;
      isNext = isGap;
    }
    return result;
  });
}

function isUpper(char: string): boolean {
  return /^\p{Lu}$/u.test(char);
}

export function swapCase(text: string): string {
  let isAfterSpace = true;
  let result = '';
  for (const char of text) {
    if (/^[\p{Lu}\p{Lt}]$/u.test(char)) {
      result += lowerOf(char);
      isAfterSpace = false;
    } else if (/^\p{Ll}$/u.test(char)) {
      result += isAfterSpace ? titleChar(char) : upperOf(char);
      isAfterSpace = false;
    } else {
      result += char;
      isAfterSpace = isSpaceChar(char);
    }
  }
  return result;
}

function isConnector(char: string): boolean {
  return char === '-' || char === '_' || isSpaceChar(char);
}

export function toPascalCase(text: Bytes): Bytes {
  return mapText(text, (decoded) => {
    const chars = [...decoded];
    const start = chars.findIndex((char) => !isConnector(char));
    if (start === -1) {
      // The last connector is written twice.
      return decoded + (chars.at(-1) ?? '');
    }
    const first = chars[start] as string;
    let result = chars.slice(0, start).join('');
    let isUpperWord = isUpper(first);
    let current = upperOf(first);
    for (const char of chars.slice(start + 1)) {
      const before = current;
      current = char;
      if (isConnector(char) && isConnector(before)) {
        result += before;
        continue;
      }
      if (isConnector(before)) {
        isUpperWord = isUpper(char);
        current = upperOf(char);
        continue;
      }
      if (isUpperWord) {
        if (isUpper(char)) {
          current = lowerOf(char);
        } else {
          isUpperWord = false;
        }
      }
      result += before;
    }
    return result + current;
  });
}

type WordKind = 'none' | 'number' | 'upper' | 'letters' | 'connector' | 'punctuation' | 'other';

interface Word {
  kind: WordKind;
  text: Bytes;
}

/** A letter that is not in upper case. */
const lower = '(?:(?!\\p{Lu})\\p{L})';
/** White space, as unicode.IsSpace. */
const space = '\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
/** The kinds of words in the order of the groups of the expression. */
const wordKinds: readonly WordKind[] = ['connector', 'punctuation', 'upper', 'letters', 'number', 'other'];

/** The words of a text, as xstrings splits them: `HTTPServer` is HTTP and Server. */
const wordPattern = new RegExp(
  [
    `([-_${space}]+)`,
    '(\\p{P}+)',
    `(\\p{Lu}${lower}+|\\p{Lu}+(?=\\p{Lu}${lower})|\\p{Lu}+)`,
    `(${lower}+)`,
    '(\\p{N}+)',
    `([^\\p{P}\\p{L}\\p{N}${space}]+)`,
  ].join('|'),
  'gu',
);

/** Splits a text into words. A byte that is not part of a character stands as half of one meanwhile. */
function wordsOf(text: Bytes): Word[] {
  let decoded = '';
  for (let at = 0; at < text.length; ) {
    const { code, size, isValid } = runeAt(text, at);
    decoded += isValid ? String.fromCodePoint(code) : String.fromCharCode(0xdc00 + text.charCodeAt(at));
    at += size;
  }
  return Array.from(decoded.matchAll(wordPattern), (match) => {
    const kind = wordKinds[match.findIndex((part, index) => index > 0 && part !== undefined) - 1] ?? 'other';
    const parts = kind === 'other' ? match[0].split(/([\udc80-\udcff])/u) : [match[0]];
    const text = parts.map((part, index) =>
      index % 2 === 0 ? bytesOf(part) : String.fromCharCode(part.charCodeAt(0) - 0xdc00),
    );
    return { kind, text: text.join('') };
  });
}

function isApart(kind: WordKind): boolean {
  return kind !== 'none' && kind !== 'connector' && kind !== 'punctuation';
}

/** Lower case words with a connector between them. */
export function withConnector(text: Bytes, connector: string): Bytes {
  const words = wordsOf(text);
  let next = 0;
  let result = '';
  const none: Word = { kind: 'none', text: '' };
  const take = (): Word => words[next++] ?? none;
  const write = ({ kind, text: word }: Word): void => {
    result +=
      kind === 'upper' || kind === 'connector'
        ? mapText(word, (decoded) =>
            Array.from(decoded, (char) => (isConnector(char) ? connector : isUpper(char) ? lowerOf(char) : char)).join(
              '',
            ),
          )
        : word;
  };
  if (words.length === 0) {
    return '';
  }
  let word = take();
  while (next < words.length) {
    if (word.kind !== 'connector') {
      write(word);
    }
    const before = word;
    word = take();
    if (before.kind === 'number') {
      while (word.kind === 'letters' || word.kind === 'number') {
        write(word);
        word = take();
      }
      result += isApart(word.kind) ? connector : '';
    } else if (before.kind === 'connector') {
      write(before);
    } else if (before.kind !== 'punctuation') {
      if (word.kind !== 'number') {
        result += isApart(word.kind) ? connector : '';
      } else if (next < words.length) {
        const number = word;
        word = take();
        if (word.kind === 'letters') {
          // Lower case letters after a number belong to it: "HTTP2xx" is http_2xx.
          result += connector;
          write(number);
          while (word.kind === 'letters' || word.kind === 'number') {
            write(word);
            word = take();
          }
          result += isApart(word.kind) ? connector : '';
        } else {
          write(number);
          result += isApart(word.kind) ? connector : '';
        }
      }
    }
  }
  write(word);
  return result;
}
