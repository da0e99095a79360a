import { type Document, isAlias, isMap, isPair, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { FieldPath } from '../kubernetes/index.ts';

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function resolved(document: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function isKey(pair: Pair, name: string | number): boolean {
  return String(isScalar(pair.key) ? pair.key.value : pair.key) === String(name);
}

/** The pair of a key, in the map itself or in one that it merges (`<<`). */
function findPair(document: Document, map: unknown, name: string | number, depth = 0): Pair | undefined {
  if (!isMap(map) || depth > 10) {
    return undefined;
  }
  const own = map.items.find((pair) => isKey(pair, name));
  if (own !== undefined) {
    return own;
  }
  for (const pair of map.items.filter((candidate) => isKey(candidate, '<<') || isMerge(candidate))) {
    const merged = resolved(document, pair.value);
    for (const source of isSeq(merged) ? merged.items : [merged]) {
      const found = findPair(document, resolved(document, source), name, depth + 1);
      if (found !== undefined) {
        return found;
      }
    }
  }
  return undefined;
}

/** The YAML 1.1 schema turns the key `<<` into a symbol. */
function isMerge(pair: Pair): boolean {
  return isScalar(pair.key) && typeof pair.key.value === 'symbol';
}

/**
 * Offset in the document's text of a field: of its key, or of the item for a path that ends in a list. For a field that
 * is not there, that of its deepest ancestor.
 */
export function positionOf(document: Document, path: FieldPath): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const segment of path) {
    node = resolved(document, node);
    if (isSeq(node) && typeof segment === 'number') {
      const item: unknown = node.items[segment];
      offset = startOf(item) ?? offset;
      node = isPair(item) ? item.value : item;
      if (item === undefined) {
        break;
      }
    } else {
      const pair = findPair(document, node, segment);
      if (pair === undefined) {
        break;
      }
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    }
  }
  return offset;
}
