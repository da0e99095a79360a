import { isJsonObject, itemsAt, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';
import { modelNameOf, objectMetaSchema } from '../models/built-in-schemas.ts';
import { apiVersionOf, type Resource } from '../resources/resource.ts';

function mapValues(value: Json | undefined, convert: (item: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(objectAt(value)).map(([key, item]) => [key, convert(item)]));
}

/** A schema with other schemas in the place of those inside it. */
function mapParts(schema: JsonObject, convert: (part: Json) => Json): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, Json] => {
    if (key === 'properties') {
      return [key, mapValues(value, convert)];
    }
    if (['allOf', 'anyOf', 'oneOf'].includes(key)) {
      return [key, itemsAt(value).map(convert)];
    }
    return [
      key,
      ['items', 'additionalProperties', 'not'].includes(key) && isJsonObject(value) ? convert(value) : value,
    ];
  });
  return Object.fromEntries(entries);
}

const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

function schemaName(model: string): string {
  return [
    'V1ObjectMeta',
    'V1LabelSelector',
    'V1LabelSelectorRequirement',
    'V1OwnerReference',
    'V1ManagedFieldsEntry',
    'V1ListMeta',
    'V1DeleteOptions',
    'V1Status',
  ].includes(model)
    ? `${metaPrefix}${model.slice(2)}`
    : `io.k8s.api.${model.replace(/^(?:Core)?V1/, 'v1.')}`;
}

function resourceSchemaName({ group, version, kind }: Resource): string {
  const prefix = group === '' ? 'io.k8s.api.core' : group.split('.').reverse().join('.');
  return `${prefix}.${version}.${kind}`;
}

/** Schemas by name, collected while references to them are rendered. */
type Components = Record<string, JsonObject>;

/** A schema as OpenAPI v3 represents it: complete, with references to Kubernetes' own models. */
function render(schema: Schema, components: Components): JsonObject {
  const model = modelNameOf(schema);
  if (model === undefined) {
    return renderInline(schema, components);
  }
  const name = schemaName(model);
  if (components[name] === undefined) {
    components[name] = {};
    components[name] = renderInline(schema, components);
  }
  return { $ref: `#/components/schemas/${name}` };
}

function renderInline(schema: Schema, components: Components): JsonObject {
  // In Kubernetes' own types, null stands for an absent field.
  const isOwn = modelNameOf(schema) !== undefined;
  const { nullable, ...rest } = schema as JsonObject;
  const rendered = mapParts(rest, (part) => render(part as Schema, components));
  if (!isOwn) {
    return nullable === undefined ? rendered : { nullable, ...rendered };
  }
  const properties = mapValues(rendered.properties, (property) => {
    const { nullable: _, ...field } = objectAt(property);
    return field;
  });
  return { ...rendered, properties };
}

function resourceSchema(resource: Resource, components: Components): JsonObject {
  const rendered = renderInline(resource.schema, components);
  const properties = rendered.properties as JsonObject | undefined;
  const metadata = render(objectMetaSchema(), components).$ref as string;
  return {
    ...rendered,
    properties: {
      ...properties,
      apiVersion: { type: 'string', description: 'GROUP/VERSION of the schema of this object.' },
      kind: { type: 'string', description: 'Kind of this object.' },
      metadata: { allOf: [{ $ref: metadata }], description: "Standard object's metadata." },
    },
    'x-kubernetes-group-version-kind': [gvkOf(resource)],
  };
}

function gvkOf({ group, version, kind }: Resource): JsonObject {
  return { group, kind, version };
}

const writeParameters = [
  ['dryRun', 'If All, nothing is stored.'],
  ['fieldManager', 'Name of the actor that makes the change.'],
  ['fieldValidation', 'What happens to unknown and duplicate fields: Ignore, Warn or Strict.'],
].map(([name = '', description = '']) => ({ name, in: 'query', description, schema: { type: 'string' } }));

function patchTypes(resource: Resource): string[] {
  return [
    'application/apply-patch+yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(resource.isCustom ? [] : ['application/strategic-merge-patch+json']),
  ];
}

/** The path of one object, with GET and PATCH: where kubectl finds out what a server validates, and what it explains. */
function objectPath(resource: Resource): [path: string, item: JsonObject] {
  const { group, version, namespaced, plural, kind } = resource;
  const ref = { $ref: `#/components/schemas/${resourceSchemaName(resource)}` };
  const operation = (action: string) => ({
    tags: [apiVersionOf(resource)],
    operationId: `${action}${[...group.split(/[^A-Za-z0-9]/), version, kind].map(capitalised).join('')}`,
    responses: { '200': { description: 'OK', content: { 'application/json': { schema: ref } } } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvkOf(resource),
  });
  const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } });
  const body = patchTypes(resource).map((type) => [type, { schema: { type: 'object' } }]);
  return [
    `${group === '' ? '/api' : `/apis/${group}`}/${version}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}/{name}`,
    {
      get: operation('get'),
      patch: {
        ...operation('patch'),
        parameters: writeParameters,
        requestBody: { content: Object.fromEntries(body) },
      },
      parameters: ['name', ...(namespaced ? ['namespace'] : [])].map(inPath),
    },
  ];
}

const capitalised = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** The OpenAPI v3 document of the resources of one group and version. The work is linear in their schemas. */
export function buildDocument(resources: readonly Resource[]): JsonObject {
  const components: Components = {};
  for (const resource of resources) {
    components[resourceSchemaName(resource)] = resourceSchema(resource, components);
  }
  return {
    openapi: '3.0.0',
    info: { title: 'extensionconfig-webhook sandbox', version: 'v1' },
    paths: Object.fromEntries(resources.map(objectPath)),
    components: { schemas: components, securitySchemes: { BearerToken: { type: 'http', scheme: 'bearer' } } },
  };
}
