import {
  type Document,
  type ErrorCode,
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

/** What is wrong with the nodes of a document, and where: aliases, which could expand to any size, and duplicate keys. */
function mistakeIn(document: Document): { message: string; offset: number } | undefined {
  let mistake: { message: string; offset: number } | undefined;
  function stop(message: string, node: { range?: Range | null | undefined }): symbol {
    mistake = { message, offset: node.range?.[0] ?? 0 };
    return visit.BREAK;
  }
  visit(document, {
    Alias: (_, node) => stop(`has the alias *${node.source}: write the value again`, node),
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

/**
 * Parses a small YAML (or JSON) document of at most `maxLength` characters, in linear time.
 *
 * @throws {YamlError} when it is longer, is not a single YAML document, has a duplicate key or an alias, or nests too deep.
 */
export function parseSmallYaml(text: string, maxLength: number): unknown {
  if (text.length > maxLength) {
    throw new YamlError(`is longer than ${maxLength} characters`);
  }
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
  return document.toJS();
}
