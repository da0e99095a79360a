import { readFileSync } from 'node:fs';
import type { MessageSchema } from '../../src/runtimehooks/index.ts';
import { coreDescriptions } from './core-descriptions.ts';

/** The document that the newest known release of Cluster API publishes. */
const published = new URL('../../test/support/fixtures/runtime-sdk/openapi.json', import.meta.url);

/** The file with the schemas of all types in messages that are not the hooks' own. */
export const coreSchemasFile = new URL('../../src/runtimehooks/messages/core-schemas.generated.json', import.meta.url);

/** The descriptions of a component and its fields, by `COMPONENT` and `COMPONENT.FIELD`. */
const descriptions = new Map(
  Object.entries(coreDescriptions).flatMap(([prefix, texts]) =>
    Object.entries(texts).map(([name, text]) => [`${prefix}${name}`, text]),
  ),
);

/**
 * A schema with our description of it. Defaults are left out, which are Go's zero values or set by the API server, and so
 * is what a strategic merge patch needs.
 */
function described(schema: MessageSchema, path: string): MessageSchema {
  const { type, format, required, properties, items, additionalProperties, oneOf } = schema;
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  const description = descriptions.get(path);
  if (reference !== undefined) {
    // OpenAPI 3.0 ignores siblings of a reference.
    return description === undefined ? { $ref: reference } : { description, allOf: [{ $ref: reference }] };
  }
  const names = [...(required ?? []), ...Object.keys(properties ?? {}).filter((name) => !required?.includes(name))];
  const fields = names.map((name) => [name, described(properties?.[name] ?? {}, `${path}.${name}`)]);
  const own = Object.entries(schema).filter(([key]) => /^x-kubernetes-(list|map)-/.test(key));
  return {
    ...(type && { type }),
    ...(format && { format }),
    ...(required && { required }),
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && { items: described(items, `${path}[]`) }),
    ...(additionalProperties && { additionalProperties: described(additionalProperties, `${path}{}`) }),
    ...(description !== undefined && { description }),
    ...(oneOf && { oneOf }),
    ...Object.fromEntries(own),
  };
}

/** The text of `coreSchemasFile`: a component a line. */
export function coreSchemasText(): string {
  const { components } = JSON.parse(readFileSync(published, 'utf8')) as {
    components: { schemas: Record<string, MessageSchema> };
  };
  const lines = Object.entries(components.schemas)
    .filter(([name]) => !name.includes('.runtime.hooks.'))
    .map(([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(described(schema, name))}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}
