import { isJsonObject, type Json, type JsonObject } from '../../../kubernetes/index.ts';
import type { MessageSchema } from '../../../runtimehooks/index.ts';
import { resolved } from '../../../runtimehooks/messages/index.ts';

/** The fields of an object, by name (`*`: any name), or of the items of a list; `true` where they are not known. */
export type FieldTree = true | readonly [FieldTree] | { readonly [name: string]: FieldTree };

/** The fields that a schema describes, of a message or of a CustomResourceDefinition. */
export function fieldTree(schema: Json | undefined): FieldTree {
  const known = isJsonObject(schema) ? (resolved(schema as MessageSchema) as JsonObject | undefined) : undefined;
  if (known === undefined) {
    return true;
  }
  const { items, properties, additionalProperties, type } = known;
  if (items !== undefined) {
    return [fieldTree(items)];
  }
  const isOpen = additionalProperties === true || known['x-kubernetes-preserve-unknown-fields'] === true;
  const rest = isOpen || (properties === undefined && (type === undefined || type === 'object'));
  return {
    ...Object.fromEntries(
      Object.entries(isJsonObject(properties) ? properties : {}).map(([name, field]) => [name, fieldTree(field)]),
    ),
    ...(isJsonObject(additionalProperties) ? { '*': fieldTree(additionalProperties) } : rest && { '*': true as const }),
  };
}

/** Where a path leaves the known fields: the index of a segment; -1 if it does not. `*` may stand for any segment. */
export function firstUnknown(tree: FieldTree, path: readonly (string | number)[]): number {
  let at: FieldTree | undefined = tree;
  for (const [index, segment] of path.entries()) {
    if (at === true) {
      return -1;
    }
    if (isList(at)) {
      at = typeof segment === 'number' || segment === '*' ? at[0] : undefined;
    } else {
      // All fields of an object may differ in what is below them.
      at = Object.hasOwn(at, segment) ? at[segment] : (at['*'] ?? (segment === '*' ? true : undefined));
    }
    if (at === undefined) {
      return index;
    }
  }
  return -1;
}

const isList = (tree: FieldTree): tree is readonly [FieldTree] => Array.isArray(tree);
