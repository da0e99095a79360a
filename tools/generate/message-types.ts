import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { clusterApiHooks, type MessageSchema } from '../../src/runtimehooks/index.ts';
import { componentsOf } from '../../src/runtimehooks/messages/index.ts';

const prefixes: readonly (readonly [prefix: string, mark: string])[] = [
  ['sigs.k8s.io.cluster-api.api.runtime.hooks.v1alpha1.', ''],
  ['sigs.k8s.io.cluster-api.api.core.v1beta2.', ''],
  ['k8s.io.apimachinery.pkg.apis.meta.v1.', 'Meta'],
  ['k8s.io.apimachinery.pkg.runtime.', ''],
  ['k8s.io.apimachinery.pkg.util.intstr.', ''],
  ['k8s.io.apiextensions-apiserver.pkg.apis.apiextensions.v1.', 'Any'],
  ['k8s.io.api.core.v1.', ''],
];

/** The name of a component in TypeScript. */
function typeName(component: string): string {
  const match = prefixes.find(([prefix]) => component.startsWith(prefix));
  if (match === undefined) {
    throw new Error(`no type name for ${component}`);
  }
  return `${match[1]}${component.slice(match[0].length)}`;
}

const generated = '// Generated from the schemas of the hooks by `npm run generate`. Do not edit.';

/** Any JSON: the only component without a type. */
const anyJson = 'AnyJSON';

/** A schema without what types cannot express, and with references by the names of their types. */
function typed(schema: MessageSchema): Record<string, unknown> {
  const { $ref, allOf, properties, additionalProperties, items, oneOf, description } = schema;
  const { type, enum: values, required } = schema;
  const reference = $ref ?? allOf?.[0]?.$ref;
  return {
    ...(description === undefined ? {} : { description }),
    ...(reference === undefined
      ? { ...(type && { type }), ...(values && { enum: values }), ...(required && { required }) }
      : { tsType: typeName(reference.slice(reference.lastIndexOf('/') + 1)) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(typed) }),
    ...(items === undefined ? {} : { items: typed(items) }),
    ...(properties === undefined
      ? {}
      : {
          additionalProperties: false,
          properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, typed(field)])),
        }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: typed(additionalProperties) }),
  };
}

/**
 * The TypeScript source of the messages of Cluster API's hooks, generated from their schemas. Formatting it takes most
 * of the time.
 */
export async function messageTypes({ format = true } = {}): Promise<string> {
  const definitions = Object.fromEntries(
    [...componentsOf(clusterApiHooks)].map(([component, schema]) => [
      typeName(component),
      typeName(component) === anyJson ? { tsType: 'unknown' } : { title: typeName(component), ...typed(schema) },
    ]),
  );
  const root = { title: 'Root', type: 'object', additionalProperties: false, definitions } as JSONSchema;
  const source = await compile(root, '', {
    bannerComment: generated,
    unreachableDefinitions: true,
    format,
    style: { singleQuote: true, printWidth: 120 },
  });
  // The compiler needs a root, and adds a note about it to each definition.
  return source
    .replaceAll(/ \* ?\n \* This interface was referenced by .*\n \* via .*\n/g, '')
    .replaceAll(/\/\*\*\n \* This interface was referenced by .*\n \* via .*\n \*\/\n/g, '')
    .replace(/export interface Root \{\s*\}\n/, '');
}

/** The TypeScript source of an interface with these types, by hook. */
export function hookMessages(): string {
  const messages = clusterApiHooks.map(({ name, request, response }) => {
    const [requestType, answered] = [request, response].map(({ component }) => `messages.${typeName(component)}`);
    return `  ${name}: { request: ${requestType}; response: ${answered} };\n`;
  });
  return `${generated}
import type * as messages from '../message-types/index.ts';

/** The types of the messages, by hook. */
export interface HookMessages {
${messages.join('')}}
`;
}
