import { readFileSync } from 'node:fs';
import type { MessageSchema } from '../../src/runtimehooks/index.ts';
import { coreDescriptions } from './core-descriptions.ts';
import { hookDescriptions } from './hook-descriptions.ts';
import { componentExamples, fieldExamples } from './message-examples.ts';

/** The document that the newest known release of Cluster API publishes. */
const published = new URL('../../test/support/fixtures/runtime-sdk/openapi.json', import.meta.url);

/** The file with the schemas of all messages, and of the types in them. */
export const messageSchemasFile = new URL(
  '../../src/runtimehooks/catalog/message-schemas.generated.json',
  import.meta.url,
);

const hooksPrefix = 'sigs.k8s.io.cluster-api.api.runtime.hooks.v1alpha1.';

/** The descriptions of a component of Kubernetes or of Cluster API's core and its fields, by `COMPONENT` and `COMPONENT.FIELD`. */
const descriptions = new Map(
  Object.entries(coreDescriptions).flatMap(([prefix, texts]) =>
    Object.entries(texts).map(([name, text]) => [`${prefix}${name}`, text]),
  ),
);

/** What a table says of a field of a hook's message. */
function ofHook<T>(table: Readonly<Record<string, T>>, path: string): T | undefined {
  return path.startsWith(hooksPrefix)
    ? (table[path.slice(hooksPrefix.length)] ?? table[path.slice(hooksPrefix.length).replace(/^[^.]*/, '*')])
    : undefined;
}

/** The fields that every message has come right after the required ones. */
const common = ['apiVersion', 'kind', 'message', 'settings'];

/**
 * A schema with our description of it, and an example. Defaults are left out, which are Go's zero values or set by the API server,
 * and so is what a strategic merge patch needs.
 */
function described(schema: MessageSchema, path: string): MessageSchema {
  const { type, format, required, properties, items, additionalProperties, oneOf } = schema;
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  const description = descriptions.get(path) ?? ofHook(hookDescriptions, path);
  const example = componentExamples[path] ?? ofHook(fieldExamples, path);
  if (reference !== undefined) {
    // OpenAPI 3.0 ignores siblings of a reference.
    return description === undefined
      ? { $ref: reference }
      : { description, allOf: [{ $ref: reference }], ...(example !== undefined && { example }) };
  }
  const first = [...(required ?? []), ...common].filter((name) => properties?.[name] !== undefined);
  const fields = [...new Set([...first, ...Object.keys(properties ?? {})])].map((name) => [
    name,
    described(properties?.[name] ?? {}, `${path}.${name}`),
  ]);
  const own = Object.entries(schema).filter(([key]) => key === 'enum' || /^x-kubernetes-(list|map)-/.test(key));
  return {
    ...(type && { type }),
    ...(format && { format }),
    ...(required && { required }),
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && { items: described(items, `${path}[]`) }),
    ...(additionalProperties && { additionalProperties: described(additionalProperties, `${path}{}`) }),
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
    ...(oneOf && { oneOf }),
    ...Object.fromEntries(own),
  };
}

/** The text of `messageSchemasFile`: a component a line. */
export function messageSchemasText(): string {
  const { components } = JSON.parse(readFileSync(published, 'utf8')) as {
    components: { schemas: Record<string, MessageSchema> };
  };
  const lines = Object.entries(components.schemas).map(
    ([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(described(schema, name))}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
}
