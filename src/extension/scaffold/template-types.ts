import {
  fieldAt,
  isJsonObject,
  itemsAt,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import { fieldTree } from '../sdk/objects/field-tree.ts';

/** A kind in a version, with the schema of its objects. */
interface Kind {
  name: string;
  apiVersion: string;
  kind: string;
  schema: JsonObject;
}

const isIdentifier = (text: string) => /^[A-Za-z_$][\w$]*$/.test(text);

/** The served versions of a CustomResourceDefinition that have a schema. */
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

/** Longest description that becomes a comment, in characters. */
const maxDescriptionLength = 160;

function commentOf(description: string, indent: string): string {
  const [line = ''] = description.split('\n');
  const text = line.slice(0, maxDescriptionLength).replaceAll('*/', '* /').trim();
  return text === '' ? '' : `${indent}/** ${text} */\n`;
}

/** The type that a structural schema describes. */
function typeOf(schema: JsonObject, indent: string): string {
  const values = itemsAt(schema, 'enum');
  if (values.length > 0) {
    return values.map((value) => JSON.stringify(value)).join(' | ');
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    return 'number | string';
  }
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array': {
      const items = typeOf(objectAt(schema, 'items'), indent);
      return /^[\w$]+$/.test(items) ? `${items}[]` : `Array<${items}>`;
    }
    case 'object':
      return objectType(schema, indent);
    default:
      return 'unknown';
  }
}

function objectType(schema: JsonObject, indent: string): string {
  const { additionalProperties } = schema;
  const properties = objectAt(schema, 'properties');
  const inner = `${indent}  `;
  const required = new Set(itemsAt(schema, 'required'));
  const fields = Object.entries(properties).map(([name, field]) => {
    const key = isIdentifier(name) ? name : JSON.stringify(name);
    const type = typeOf(objectAt(field), inner);
    const comment = commentOf(textAt(field, 'description'), inner);
    return `${comment}${inner}${key}${required.has(name) ? '' : '?'}: ${type};\n`;
  });
  if (isJsonObject(additionalProperties)) {
    fields.push(`${inner}[name: string]: ${typeOf(additionalProperties, inner)};\n`);
  } else if (fields.length === 0 || schema['x-kubernetes-preserve-unknown-fields'] === true) {
    fields.push(`${inner}[name: string]: unknown;\n`);
  }
  return `{\n${fields.join('')}${indent}}`;
}

function interfaceOf({ name, apiVersion, kind, schema }: Kind): string {
  return [
    commentOf(textAt(schema, 'description'), ''),
    `export interface ${name} {\n`,
    `  apiVersion: ${JSON.stringify(apiVersion)};\n  kind: ${JSON.stringify(kind)};\n`,
    '  metadata: {\n    name?: string;\n    namespace?: string;\n    labels?: Record<string, string>;\n',
    '    annotations?: Record<string, string>;\n    [field: string]: unknown;\n  };\n',
    `  spec: ${typeOf(objectAt(schema, 'properties', 'spec'), '  ')};\n}\n`,
  ].join('');
}

/** What `template-types` cannot use. */
export class TemplateTypesError extends Error {}

/**
 * TypeScript types of the kinds in CustomResourceDefinitions, in the order of their names. Patchers that match a kind
 * whose name ends with Template receive its type.
 *
 * @throws {TemplateTypesError} when there is no CustomResourceDefinition with a schema, or a name is not one of a type.
 */
export function templateTypes(objects: readonly JsonObject[]): string {
  const kinds = objects
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .flatMap(kindsOf)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (kinds.length === 0) {
    throw new TemplateTypesError('there is no CustomResourceDefinition with a served version that has a schema');
  }
  const wrong = kinds.find(({ name, apiVersion }) => !isIdentifier(name) || !/^[a-z0-9./-]+$/.test(apiVersion));
  if (wrong !== undefined) {
    throw new TemplateTypesError(
      `${JSON.stringify(`${wrong.name.slice(0, 100)} of ${wrong.apiVersion.slice(0, 300)}`)} is not a name for a type`,
    );
  }
  const twice = kinds.find(({ name }, index) => kinds[index + 1]?.name === name);
  if (twice !== undefined) {
    throw new TemplateTypesError(`${twice.name} is defined more than once: pass each CustomResourceDefinition once`);
  }
  const fields = Object.groupBy(
    kinds.map(({ kind, schema }) => {
      const isTemplate = kind.endsWith('Template');
      const spec = ['properties', 'spec', ...(isTemplate ? ['properties', 'template', 'properties', 'spec'] : [])];
      return { name: kind.replace(/Template$/, ''), tree: { spec: fieldTree(fieldAt(schema, ...spec)) } };
    }),
    ({ name }) => name,
  );
  const trees = Object.entries(fields).map(([name, versions = []]) => [name, versions.map(({ tree }) => tree)]);
  const byKind = Map.groupBy(
    kinds.filter(({ kind }) => kind.endsWith('Template')),
    ({ kind }) => kind,
  );
  const templates = [...byKind].map(
    ([kind, versions]) =>
      `    ${kind}: {\n${versions.map(({ name, apiVersion }) => `      ${JSON.stringify(apiVersion)}: ${name};\n`).join('')}    };\n`,
  );
  return [
    '// Written by `extensionconfig-webhook template-types`. Do not edit: run it again.\n',
    "import 'cluster-api-extension/topology';\nimport type { KnownFields } from 'cluster-api-extension';\n",
    "\ndeclare module 'cluster-api-extension/topology' {\n  interface TemplateKinds {\n",
    ...templates,
    '  }\n}\n',
    ...kinds.map((kind) => `\n${interfaceOf(kind)}`),
    '\n/** The fields of these kinds, for defineInPlaceChanges. */\n',
    `export const knownFields: KnownFields = ${JSON.stringify(Object.fromEntries(trees))};\n`,
  ].join('');
}
