import {
  type Document,
  type ErrorCode,
  isPair,
  type Pair,
  parseDocument,
  type Range,
  type Scalar,
  stringify,
  visit,
} from 'yaml';
import { isPrintableYaml, printableJson } from '../terminal/printable.ts';

/** A value as YAML that is easy to read; texts longer than `lineWidth` are folded, with 0 none. */
export function readableYaml(value: object, lineWidth = 80): string {
  // What other parsers read as a boolean, a number or a time has quotes.
  const text = stringify(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth });
  // JSON is YAML, too, and escapes what must not be printed.
  return isPrintableYaml(text) ? text : `${printableJson(value, 2)}\n`;
}

/** Why a text is not valid YAML within the limits: one line, with the line number. */
export class YamlError extends Error {}

/** Maximum number of aliases in a document, and of the values that they add to it. */
const maxAliases = 100;
const maxAliased = 100_000;

/** Deepest nesting of arrays and objects. */
const maxDepth = 256;

/**
 * Parses a small YAML (or JSON) document of at most `maxLength` characters, in linear time.
 *
 * @throws {YamlError} when it is longer, is not a single YAML document, has a duplicate key, nests too deep, has more
 *   than 100 aliases, or has aliases that contain themselves or expand to too many values.
 */
export function parseSmallYaml(text: string, maxLength: number): unknown {
  if (text.length > maxLength) {
    throw new YamlError(`is longer than ${maxLength} characters`);
  }
  return parse(text);
}

/**
 * Checks what the parser allows but users of the result could not handle: a few aliases can expand to more values than fit
 * into memory, or to values that contain themselves.
 *
 * @param maxValues that the document may contain, each counted as often as it is referred to.
 */
function checkAliases(document: unknown, maxValues: number): void {
  const pending = [document];
  for (let count = 0; pending.length > 0; count++) {
    const value = pending.pop();
    if (count > maxValues) {
      throw new YamlError(`has aliases that contain themselves, or expand to more than ${maxAliased} values`);
    }
    for (const inner of typeof value === 'object' && value !== null ? Object.values(value) : []) {
      pending.push(inner);
    }
  }
}

/** What is wrong with the nodes of a document, and where: nesting, aliases and duplicate keys. */
function mistakeIn(document: Document): { message: string; offset: number } | undefined {
  let mistake: { message: string; offset: number } | undefined;
  let aliases = 0;
  function stop(message: string, node: { range?: Range | null | undefined }): symbol {
    mistake = { message, offset: node.range?.[0] ?? 0 };
    return visit.BREAK;
  }
  visit(document, {
    Collection(_, node, path) {
      // An entry of a map is a step of its own.
      return path.filter((parent) => !isPair(parent)).length > maxDepth ? stop('nests too deeply', node) : undefined;
    },
    Alias(_, node) {
      return ++aliases > maxAliases ? stop(`has more than ${maxAliases} aliases`, node) : undefined;
    },
    Map(_, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items as Pair<Scalar>[]) {
        if (keys.has(key.value)) {
          return stop(`the key ${JSON.stringify(String(key.value).slice(0, 64))} is duplicated`, key);
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return mistake;
}

function problemOf(document: Document): { message: string; offset: number } | undefined {
  const [error] = [...document.errors, ...document.warnings];
  if (error === undefined) {
    return mistakeIn(document);
  }
  const known: Partial<Record<ErrorCode, string>> = {
    RESOURCE_EXHAUSTION: 'nests too deeply',
    NON_STRING_KEY: 'a key must be plain text',
  };
  return { message: known[error.code] ?? error.message.slice(0, 300), offset: error.pos[0] };
}

function parse(text: string): unknown {
  // Its own check of keys takes quadratic time.
  const options = { prettyErrors: false, uniqueKeys: false, stringKeys: true } as const;
  const document = parseDocument(text, options);
  if (document.errors[0]?.code === 'MULTIPLE_DOCS') {
    throw new YamlError('contains more than one document');
  }
  const problem = problemOf(document);
  if (problem !== undefined) {
    throw new YamlError(`line ${text.slice(0, problem.offset).split('\n').length}: ${problem.message}`);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: -1 });
  } catch (error) {
    // An alias without an anchor.
    throw error instanceof ReferenceError ? new YamlError(error.message.slice(0, 300)) : error;
  }
  checkAliases(value, text.length + maxAliased);
  return value;
}
