import { type Bytes, mapText } from '../../../base/go-text/index.ts';

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

/** White space of Unicode, as in unicode.IsSpace. */
const space = '\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const firstOfWord = new RegExp(`(?<![^${space}])[^${space}]`, 'gu');
/** Its first character, capitals right after it, the rest, and the connectors after it. */
const word = new RegExp(`([^${space}_-])(\\p{Lu}*)([^${space}_-]*)([${space}_-]*)`, 'gu');
const onlyConnectors = new RegExp(`^[${space}_-]*$`, 'u');

export function untitled(text: Bytes): Bytes {
  return mapText(text, (decoded) => decoded.replaceAll(firstOfWord, lowerOf));
}

/** The words of a text without a connector between them; those of capitals are capitalized. */
export function toPascalCase(text: Bytes): Bytes {
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
