import { type Bytes, isSpaceRune, mapText } from '../../../base/go-text/index.ts';

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

/** Lower case words with a connector between them, as xstrings splits them: `HTTPServer` is HTTP and Server. */
export function withConnector(text: Bytes, connector: string): Bytes {
  return mapText(text, (decoded) =>
    toLower(
      decoded
        // A number belongs to the lower case letters after it: `HTTP2xx` is http_2xx.
        .replaceAll(/(\p{L})(\p{N}+\p{Ll}[\p{N}\p{Ll}]*)/gu, '$1_$2')
        .replaceAll(/(?<=[\p{Ll}\p{Lo}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, '_'),
    ).replaceAll(/[-_\s]/g, connector),
  );
}
