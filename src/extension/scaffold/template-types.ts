import type { JSONSchema } from 'json-schema-to-typescript';
import { UsageError } from '../../base/index.ts';
import {
  fieldAt,
  isJsonObject,
  itemsAt,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import { type FieldTree, fieldTree } from '../sdk/objects/in-place.ts';

interface Kind {
  name: string;
  apiVersion: string;
  kind: string;
  schema: JsonObject;
}

const isIdentifier = (text: string) => /^[A-Za-z_$][\w$]*$/.test(text);

function kindsOf(crd: JsonObject): Kind[] {
  const kind = textAt(crd, 'spec', 'names', 'kind');
  const versions = objectsAt(crd, 'spec', 'versions').filter(
    (version) => version.served === true && fieldAt(version, 'schema', 'openAPIV3Schema') !== undefined,
  );
  return versions.map((version) => {
    const name = textAt(version, 'name');
    return {
      name: versions.length === 1 ? kind : `${kind}${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      apiVersion: `${textAt(crd, 'spec', 'group')}/${name}`,
      kind,
      schema: objectAt(version, 'schema', 'openAPIV3Schema'),
    };
  });
}

/** A kind may have the name Record. */
const metadataType =
  '{ name?: string; namespace?: string; labels?: { [name: string]: string }; annotations?: { [name: string]: string }; [field: string]: unknown }';

const types = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const;

/** The part of a schema that types express: for the compiler, a `$ref` would be a file to read, and `tsType` code. */
function jsonSchemaOf(schema: JsonObject): JSONSchema {
  const { additionalProperties, nullable } = schema;
  const type = types.find((one) => one === schema.type);
  const description = textAt(schema, 'description').slice(0, 10_000);
  const values = itemsAt(schema, 'enum');
  const properties = Object.entries(objectAt(schema, 'properties'));
  const required = new Set(itemsAt(schema, 'required'));
  const isOpen = properties.length === 0 || schema['x-kubernetes-preserve-unknown-fields'] === true;
  return {
    ...(description !== '' && { description }),
    ...(nullable === true && { nullable }),
    ...(values.length > 0
      ? { enum: values as JSONSchema['enum'] & object }
      : schema['x-kubernetes-int-or-string'] === true
        ? { type: ['integer', 'string'] }
        : type === undefined
          ? { tsType: 'unknown' }
          : { type }),
    ...(type === 'array' && { items: jsonSchemaOf(objectAt(schema, 'items')) }),
    ...(type === 'object' && {
      properties: Object.fromEntries(properties.map(([name, field]) => [name, jsonSchemaOf(objectAt(field))])),
      required: properties.map(([name]) => name).filter((name) => required.has(name)),
      additionalProperties: isJsonObject(additionalProperties) ? jsonSchemaOf(additionalProperties) : isOpen,
    }),
  };
}

/** Indents what the compiler wrote, whose own formatter is ten times its size. */
function indented(code: string): string {
  let depth = 0;
  const lines = code.split('\n').map((line) => {
    const isComment = /^[ /]/.test(line);
    depth -= line.startsWith('}') ? 1 : 0;
    const indent = '  '.repeat(depth);
    depth += !isComment && line.endsWith('{') ? 1 : 0;
    return `${indent}${line}`.trimEnd();
  });
  return lines.join('\n');
}

async function interfaceOf({ name, apiVersion, kind, schema }: Kind): Promise<string> {
  const { compile } = await import('json-schema-to-typescript');
  const whole: JSONSchema = {
    ...jsonSchemaOf({ description: textAt(schema, 'description'), type: 'object' }),
    properties: {
      apiVersion: { enum: [apiVersion] },
      kind: { enum: [kind] },
      metadata: { tsType: metadataType },
      spec: jsonSchemaOf(objectAt(schema, 'properties', 'spec')),
    },
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    additionalProperties: false,
  };
  const code = await compile(whole, name, { bannerComment: '', format: false, ignoreMinAndMaxItems: true });
  // The compiler writes some names in its own way: K3SConfig for K3sConfig.
  return indented(code.replace(/^export interface \S+/m, () => `export interface ${name}`));
}

function fieldsOf({ kind, schema }: Kind): FieldTree {
  const ofTemplate = kind.endsWith('Template') ? ['properties', 'template', 'properties', 'spec'] : [];
  return { spec: fieldTree(fieldAt(schema, 'properties', 'spec', ...ofTemplate)) };
}

/**
 * TypeScript types of the kinds in CustomResourceDefinitions, in the order of their names; patchers of templates receive them.
 *
 * @throws {UsageError} when there is no CustomResourceDefinition with a schema, or a name is not one of a type.
 */
export async function templateTypes(objects: readonly JsonObject[]): Promise<string> {
  const kinds = objects
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .flatMap(kindsOf)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (kinds.length === 0) {
    throw new UsageError('there is no CustomResourceDefinition with a served version that has a schema');
  }
  const wrong = kinds.find(({ name, apiVersion }) => !isIdentifier(name) || !/^[a-z0-9./-]+$/.test(apiVersion));
  if (wrong !== undefined) {
    const named = JSON.stringify(`${wrong.name.slice(0, 100)} of ${wrong.apiVersion.slice(0, 300)}`);
    throw new UsageError(`${named} is not a name for a type`);
  }
  const twice = kinds.find(({ name }, index) => kinds[index + 1]?.name === name);
  if (twice !== undefined) {
    throw new UsageError(`${twice.name} is defined more than once: pass each CustomResourceDefinition once`);
  }
  const fields = [...Map.groupBy(kinds, ({ kind }) => kind.replace(/Template$/, ''))].map(
    ([name, versions]): [string, FieldTree[]] => [name, versions.map(fieldsOf)],
  );
  const byKind = [...Map.groupBy(kinds, ({ kind }) => kind)].filter(([kind]) => kind.endsWith('Template'));
  const templates = byKind.map(([kind, versions]) => {
    const lines = versions.map(({ name, apiVersion }) => `      ${JSON.stringify(apiVersion)}: ${name};\n`);
    return `    ${kind}: {\n${lines.join('')}    };\n`;
  });
  const interfaces = await Promise.all(kinds.map(interfaceOf));
  return [
    '// Written by `extensionconfig-webhook template-types`. Do not edit: run it again.\n',
    "import 'cluster-api-extension/topology';\nimport type { KnownFields } from 'cluster-api-extension';\n",
    "\ndeclare module 'cluster-api-extension/topology' {\n  interface TemplateKinds {\n",
    ...templates,
    '  }\n}\n',
    ...interfaces.map((text) => `\n${text}`),
    '\n/** The fields of these kinds, for defineInPlaceChanges. */\n',
    `export const knownFields: KnownFields = ${JSON.stringify(Object.fromEntries(fields))};\n`,
  ].join('');
}
