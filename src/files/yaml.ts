import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

const require = createRequire(import.meta.url);

let loaded: typeof Yaml | undefined;

/** The library that parses, writes and rewrites YAML, loaded when it is first asked for: most runs need none of it. */
export function yaml(): typeof Yaml {
  loaded ??= require('yaml') as typeof Yaml;
  return loaded;
}

/** Why a text is not valid YAML within the limits: one line, with the line number. */
export class YamlError extends Error {}

/** Maximum number of aliases that a document may resolve: each can stand for a large value. */
const maxAliases = 100;

/**
 * Reads a small YAML (or JSON) document, such as the file of a flag. Time is linear in its length, which `maxLength`
 * limits.
 *
 * @param maxLength in characters.
 * @throws {YamlError} when it is longer, is not one YAML document, has a duplicate key, more than 100 aliases, or an alias
 *   that contains itself.
 */
export function parseSmallYaml(text: string, maxLength: number): unknown {
  if (text.length > maxLength) {
    throw new YamlError(`is longer than ${maxLength} characters`);
  }
  const json = plainJson(text);
  if (json !== undefined) {
    return json.value;
  }
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof YamlError) {
      throw error;
    }
    // Others are the library's: an alias without an anchor, one whose expansion is too large, a merge of no map (YAML 1.1).
    throw new YamlError(error instanceof RangeError ? 'nests too deep' : (error as Error).message);
  }
}

/** Deepest nesting that is read as JSON; what nests deeper is rare enough to go the slow way. */
const maxJsonDepth = 64;

/** Pairs of key and value in a JSON text, and how deep it nests. */
function measure(text: string): { pairs: number; depth: number } {
  let [pairs, level, depth] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        do {
          at = text.indexOf('"', at + 1);
        } while (isEscaped(text, at));
        break;
      case 0x3a: // :
        pairs += 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        level += 1;
        depth = Math.max(depth, level);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        level -= 1;
        break;
    }
  }
  return { pairs, depth };
}

function isEscaped(text: string, at: number): boolean {
  let from = at;
  while (text[from - 1] === '\\') {
    from -= 1;
  }
  return (at - from) % 2 === 1;
}

function pairsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) {
    return 0;
  }
  const parts = Object.values(value);
  return parts.reduce((sum: number, part) => sum + pairsOf(part), Array.isArray(value) ? 0 : parts.length);
}

/**
 * The value of a JSON text, some fifty times faster than as YAML; undefined for what is not JSON, nests deep, or has a key
 * twice: there are fewer pairs in the value than in the text then.
 */
function plainJson(text: string): { value: unknown } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { pairs, depth } = measure(text);
  return depth <= maxJsonDepth && pairsOf(value) === pairs ? { value } : undefined;
}

function parse(text: string): unknown {
  const { isScalar, LineCounter, parseDocument, visit } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    logLevel: 'error',
    // The library compares each key of a map with all others; below, a set does.
    uniqueKeys: false,
    // They quote the line of each error, however long it is: of one line with an error at every character, all of it each time.
    prettyErrors: false,
  });
  const at = (offset: number | undefined, problem: string) =>
    new YamlError(`line ${lines.linePos(offset ?? 0).line}: ${problem}`);
  const [error] = document.errors;
  if (error !== undefined) {
    const isTooDeep = error.code === 'RESOURCE_EXHAUSTION';
    throw at(error.pos[0], isTooDeep ? 'nests too deep' : (error.message.split('\n', 1)[0] ?? ''));
  }
  let aliases = 0;
  visit(document, {
    Alias: (_key, alias, above) => {
      const [from] = alias.range ?? [];
      aliases += 1;
      if (aliases > maxAliases) {
        throw at(from, `has more than ${maxAliases} aliases`);
      }
      // Reading such a value would never end. To resolve an alias takes a walk over the document.
      const mayBeInside = above.some((node) => 'anchor' in node && node.anchor === alias.source);
      const meant = mayBeInside ? alias.resolve(document) : undefined;
      if (meant !== undefined && above.some((node) => node === meant)) {
        throw at(from, `the alias *${alias.source.slice(0, 64)} contains itself`);
      }
    },
    Map: (_key, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) {
          throw at(map.range?.[0], 'a key must be plain text');
        }
        if (seen.has(key.value)) {
          throw at(key.range?.[0], `the key ${JSON.stringify(String(key.value).slice(0, 64))} is given twice`);
        }
        seen.add(key.value);
      }
    },
  });
  return document.toJS({ maxAliasCount: maxAliases });
}
