import { isMap, isPair, isScalar, isSeq, type Node } from 'yaml';
import type { FieldPath } from '../objects/errors/field-path.ts';
import { startOf } from './compose.ts';
import { keyText } from './kubectl-schema.ts';

/** A field of a map, or an item of a list: where it begins, and its value. */
interface Child {
  at: number;
  node: unknown;
}

function childrenOf(node: unknown): [name: string, child: Child][] {
  if (isSeq(node)) {
    return node.items.map((item, index) => [String(index), { at: startOf(item), node: item }]);
  }
  return isMap(node)
    ? node.items.map(({ key, value }) => [(isScalar(key) && keyText(key)) || '', { at: startOf(key), node: value }])
    : [];
}

/** The positions of a document's fields: each lookup takes a step for each segment, and all together one for each node. */
export class Places {
  readonly #root: Node | null;
  readonly #children = new Map<unknown, ReadonlyMap<string, Child>>();

  constructor(root: Node | null) {
    this.#root = root;
  }

  /** The deepest existing field on a path, and how many segments lead to it. What an alias or a "<<" has is elsewhere. */
  nodeAt(path: FieldPath): Child & { depth: number } {
    let child: Child = { at: startOf(this.#root), node: this.#root };
    for (const [depth, segment] of path.entries()) {
      let children = this.#children.get(child.node);
      if (children === undefined) {
        children = new Map(childrenOf(child.node));
        this.#children.set(child.node, children);
      }
      const next = children.get(String(segment));
      if (next === undefined) {
        return { ...child, depth };
      }
      child = next;
    }
    return { ...child, depth: path.length };
  }

  endOf(path: FieldPath): number {
    let { node } = this.nodeAt(path);
    // A block of fields or items ends with the last one.
    while ((isMap(node) || isSeq(node)) && !node.flow && node.items.length > 0) {
      const last = node.items.at(-1);
      node = isPair(last) ? last.value : last;
    }
    return (node as Node | null | undefined)?.range?.[1] ?? 0;
  }
}
