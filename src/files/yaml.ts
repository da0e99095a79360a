import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

const require = createRequire(import.meta.url);

/** The parser, loaded with the first file: most runs read none. */
function yaml(): typeof Yaml {
  return require('yaml');
}

/** Why a text is not the YAML that is asked for: one line, with the line where it is. */
export class YamlError extends Error {}

/** Maximum number of aliases that a document may resolve: each can stand for a large value. */
const maxAliases = 100;

/**
 * Reads a small YAML (or JSON) document, such as a flag names. Time is linear in its length, so that `maxLength` bounds
 * it.
 *
 * @param maxLength in characters.
 * @throws {YamlError} when it is longer, is not one YAML document, has a key twice, or more than a few aliases.
 */
export function parseSmallYaml(text: string, maxLength: number): unknown {
  if (text.length > maxLength) {
    throw new YamlError(`is longer than ${maxLength} characters`);
  }
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new YamlError('nests too deep');
    }
    // An alias without an anchor, or one that expands to too much.
    throw error instanceof ReferenceError ? new YamlError(error.message) : error;
  }
}

function parse(text: string): unknown {
  const { isScalar, LineCounter, parseDocument, visit } = yaml();
  const lines = new LineCounter();
  // The library compares each key of a map with all others; below, a set does.
  const document = parseDocument(text, { lineCounter: lines, logLevel: 'error', uniqueKeys: false });
  const at = (offset: number | undefined, problem: string) =>
    new YamlError(`line ${lines.linePos(offset ?? 0).line}: ${problem}`);
  const [error] = document.errors;
  if (error !== undefined) {
    throw at(error.pos[0], error.message.split('\n', 1)[0] ?? '');
  }
  let aliases = 0;
  visit(document, {
    Alias: (_key, { range }) => {
      aliases += 1;
      if (aliases > maxAliases) {
        throw at(range?.[0], `has more than ${maxAliases} aliases`);
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
