import { isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';
import { isJsonObject, type Json } from '../kubernetes/index.ts';

/** Every string of a JSON text, and whether it is a key. */
const strings = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

function keysWritten(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(strings)) {
    count += colon === undefined ? 0 : 1;
  }
  return count;
}

function keysKept(value: Json): number {
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, item) => sum + keysKept(item), 0);
  }
  if (!isJsonObject(value)) {
    return 0;
  }
  return Object.values(value).reduce<number>((sum, item) => sum + 1 + keysKept(item), 0);
}

function nameOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

function pathOf(nodes: readonly unknown[]): string {
  let path = '';
  for (const [index, node] of nodes.entries()) {
    if (isPair(node)) {
      path += `${path === '' ? '' : '.'}${nameOf(node.key)}`;
    } else if (isSeq(node)) {
      path += `[${(node.items as unknown[]).indexOf(nodes[index + 1])}]`;
    }
  }
  return path;
}

/**
 * The paths of the fields that a valid JSON text has more than once (`spec.bar`, `spec.list[0].foo`), in the order of the
 * text, as `fieldValidation` reports them. JSON.parse keeps the last of them and says nothing, so keys are counted first;
 * only a text that lost some is read again by a parser that sees them all.
 */
export function duplicateFields(text: string, value: Json): string[] {
  if (keysWritten(text) === keysKept(value)) {
    return [];
  }
  const found: string[] = [];
  visit(parseDocument(text, { uniqueKeys: false }), {
    Map(_key, map, ancestors) {
      const seen = new Set<string>();
      for (const pair of map.items) {
        const name = nameOf(pair.key);
        if (seen.has(name)) {
          found.push(pathOf([...ancestors, map, pair]));
        }
        seen.add(name);
      }
    },
  });
  return found;
}
