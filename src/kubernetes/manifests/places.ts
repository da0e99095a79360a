import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import type { FieldPath } from '../objects/errors/field-path.ts';
import { type Composed, isMerge } from './compose.ts';
import { keyText } from './kubectl-schema.ts';

/** A field of a map, or an item of a list: where it begins, and its value. */
interface Child {
  at: number;
  node: unknown;
}

/** The positions of a document's fields: each lookup takes a step for each segment, and all together one for each node. */
export class Places {
  readonly #root: Node | null;
  readonly #targets: Composed['targets'];
  readonly #children = new Map<unknown, ReadonlyMap<string, Child>>();

  constructor({ root, targets }: Pick<Composed, 'root' | 'targets'>) {
    this.#root = root;
    this.#targets = targets;
  }

  #resolved(node: unknown): unknown {
    return isAlias(node) ? this.#targets.get(node) : node;
  }

  #childrenOf(alias: unknown): ReadonlyMap<string, Child> {
    const node = this.#resolved(alias);
    const known = this.#children.get(node);
    if (known !== undefined) {
      return known;
    }
    const children = new Map<string, Child>();
    this.#children.set(node, children);
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        children.set(String(index), { at: (item as Node).range?.[0] ?? 0, node: item });
      }
    } else if (isMap(node)) {
      for (const pair of node.items) {
        if (isMerge(pair)) {
          const from = isSeq(pair.value) ? pair.value.items.toReversed() : [pair.value];
          for (const [name, child] of from.flatMap((one) => [...this.#childrenOf(one)])) {
            children.set(name, child);
          }
        } else {
          const key = this.#resolved(pair.key);
          const name = isScalar(key) ? keyText(key) : undefined;
          children.set(name ?? '', { at: (pair.key as Node).range?.[0] ?? 0, node: pair.value });
        }
      }
    }
    return children;
  }

  offsetOf(path: FieldPath): number {
    let child: Child | undefined = { at: this.#root?.range?.[0] ?? 0, node: this.#root };
    let { at } = child;
    for (const segment of path) {
      child = this.#childrenOf(child?.node).get(String(segment));
      at = child?.at ?? at;
    }
    return at;
  }

  /** The node of a field, and how many segments lead to it: not all, if it does not exist or an ancestor is an alias. */
  nodeAt(path: FieldPath): { node: unknown; depth: number } {
    let node: unknown = this.#root;
    for (const [depth, segment] of path.entries()) {
      const child = isAlias(node) ? undefined : this.#childrenOf(node).get(String(segment));
      if (child === undefined) {
        return { node, depth };
      }
      node = child.node;
    }
    return { node, depth: path.length };
  }

  endOf(path: FieldPath): number {
    let { node } = this.nodeAt(path);
    // A block of fields or items ends with the last one.
    while ((isMap(node) || isSeq(node)) && !node.flow && node.items.length > 0) {
      node = [...this.#childrenOf(node).values()].at(-1)?.node;
    }
    return (node as Node | null | undefined)?.range?.[1] ?? 0;
  }
}

/** The range of the text of a plain or quoted scalar without an anchor and a tag, inside its quotes. */
export function textRange(node: unknown): { from: number; to: number } | undefined {
  if (!isScalar(node) || !node.range || node.anchor !== undefined || node.tag !== undefined) {
    return undefined;
  }
  const [from, to] = node.range;
  const quotes: Readonly<Record<string, number>> = { PLAIN: 0, QUOTE_DOUBLE: 1, QUOTE_SINGLE: 1 };
  const inset = quotes[node.type ?? ''];
  return inset === undefined ? undefined : { from: from + inset, to: to - inset };
}
