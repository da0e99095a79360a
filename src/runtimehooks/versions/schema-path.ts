import type { Schema } from '../../kubernetes/schema/index.ts';

/** The steps of a path such as `status.handlers[].name`. */
export function tokensOf(path: string): string[] {
  return path.match(/\[\]|\{\}|[^.[\]{}]+/g) ?? [];
}

/** A path with one more step. */
export function joinPath(path: string, token: string): string {
  return path === '' || token === '[]' || token === '{}' ? `${path}${token}` : `${path}.${token}`;
}

/** Whether a path is below another one. */
export function isBelow(path: string, ancestor: string): boolean {
  return path.length > ancestor.length && path.startsWith(ancestor) && /[.[{]/.test(path.charAt(ancestor.length));
}

/** The schema of a field, or undefined if it does not exist. */
export function schemaAt(root: Schema, path: string): Schema | undefined {
  let schema: Schema | undefined = root;
  for (const token of tokensOf(path)) {
    if (token === '[]') {
      schema = schema?.items;
    } else if (token === '{}') {
      schema = typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    } else {
      const properties: Record<string, Schema> = schema?.properties ?? {};
      schema = Object.hasOwn(properties, token) ? properties[token] : undefined;
    }
  }
  return schema;
}
