import type { Schema } from '../../kubernetes/schema/index.ts';
import type { DirectedTable } from './change-table.ts';
import { joinPath } from './schema-path.ts';

/** A field of one version, or the items of a list, or the values of a map. */
export interface Field {
  path: string;
  schema: Schema;
}

/** A property of an object. */
export interface Property extends Field {
  name: string;
}

/** The types of values that conversion distinguishes. */
export function kindOf({ schema }: Field): string {
  if (schema['x-kubernetes-int-or-string']) {
    return 'integer or string';
  }
  if (schema.type === undefined || schema['x-kubernetes-preserve-unknown-fields']) {
    return 'anything';
  }
  return schema.type === 'object' && typeof schema.additionalProperties === 'object' ? 'map' : schema.type;
}

/** The properties of an object, by name. */
export function propertiesOf({ path, schema }: Field): Map<string, Property> {
  const properties = Object.entries(schema.properties ?? {});
  return new Map(properties.map(([name, property]) => [name, { name, path: joinPath(path, name), schema: property }]));
}

/**
 * Finds what a property becomes without an entry in the table: the property of the other version with the same name, or
 * else the first whose name differs only in case, unless this version has a property of that exact name as well.
 */
export function namesakesIn(
  targets: ReadonlyMap<string, Property>,
  sources: ReadonlyMap<string, Property>,
  table: DirectedTable,
): (name: string) => Property | undefined {
  const sameName = new Map<string, Property>();
  const respelled = new Map<string, Property>();
  for (const [name, target] of targets) {
    if (table.hasSource(target.path)) {
      continue;
    }
    sameName.set(name, target);
    const lowerCase = name.toLowerCase();
    if (!sources.has(name) && !respelled.has(lowerCase)) {
      respelled.set(lowerCase, target);
    }
  }
  return (name) => sameName.get(name) ?? respelled.get(name.toLowerCase());
}
