import type { JsonObject } from '../../kubernetes/index.ts';
import { modelSchemas, referencePrefix } from '../models/models.ts';
import { apiVersionOf, type Resource } from '../resources/resource.ts';

function resourceSchemaName({ group, version, kind }: Resource): string {
  const prefix = group === '' ? 'io.k8s.api.core' : group.split('.').reverse().join('.');
  return `${prefix}.${version}.${kind}`;
}

const references = /"\$ref":"#\/components\/schemas\/([^"]+)"/g;

/** Adds the models that a part of a document refers to, and those that these refer to. */
function include(part: JsonObject, components: Record<string, JsonObject>): void {
  for (const [, name = ''] of JSON.stringify(part).matchAll(references)) {
    // A default of a user's schema may look like a reference.
    if (components[name] === undefined && Object.hasOwn(modelSchemas, name)) {
      components[name] = modelSchemas[name] as JsonObject;
      include(components[name], components);
    }
  }
}

const referTo = (name: string): JsonObject => ({ $ref: `${referencePrefix}${name}` });
const meta = (kind: string): JsonObject => referTo(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`);

function resourceSchema(resource: Resource): JsonObject {
  const { model, schema } = resource;
  const rendered = model === undefined ? (schema as JsonObject) : (modelSchemas[model] as JsonObject);
  return {
    ...rendered,
    properties: {
      ...(rendered.properties as JsonObject | undefined),
      apiVersion: { type: 'string', description: 'GROUP/VERSION of the schema of this object.' },
      kind: { type: 'string', description: 'Kind of this object.' },
      metadata: { allOf: [meta('ObjectMeta')], description: "Standard object's metadata." },
    },
    'x-kubernetes-group-version-kind': [gvkOf(resource)],
  };
}

const gvkOf = ({ group, version, kind }: Resource): JsonObject => ({ group, kind, version });

function query(name: string, type: 'string' | 'boolean' | 'integer', description: string): JsonObject {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

const writeParameters = [
  query('dryRun', 'string', 'If All, nothing is stored.'),
  query('fieldManager', 'string', 'Name of the actor that makes the change.'),
  query('fieldValidation', 'string', 'What happens to unknown and duplicate fields: Ignore, Warn or Strict.'),
];
const listParameters = [
  query('labelSelector', 'string', 'Selects objects by their labels.'),
  query('fieldSelector', 'string', 'Selects objects by their fields.'),
  query('limit', 'integer', 'Maximum number of objects in a response.'),
  query('continue', 'string', 'Token of the response to continue.'),
  query('resourceVersion', 'string', 'resourceVersion to read at or to watch from.'),
  query('watch', 'boolean', 'Streams changes instead of returning a list.'),
  query('allowWatchBookmarks', 'boolean', 'Sends BOOKMARK events.'),
  query('sendInitialEvents', 'boolean', 'Begins a watch with the existing objects.'),
  query('timeoutSeconds', 'integer', 'Ends a watch after this time.'),
];
const deleteParameters = writeParameters.slice(0, 1);

const content = (types: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(types.map((type) => [type, { schema }]));

const patchTypes = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

const capitalised = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Group and version in operation ids: `CoreV1`, `RuntimeClusterXK8sIoV1beta2`. */
function versionId({ group, version }: Resource): string {
  const words = group === '' ? ['core'] : group.split(/[^A-Za-z0-9]/);
  return [...words, version].map(capitalised).join('');
}

/** The verbs of actions in ids, if they are others. */
const verbs: Readonly<Record<string, string>> = {
  get: 'read',
  post: 'create',
  put: 'replace',
  deletecollection: 'deleteCollection',
};

function operations(resource: Resource): JsonObject {
  const ref = referTo(resourceSchemaName(resource));
  const listRef = referTo(`${resourceSchemaName(resource)}List`);
  const [status, options] = [meta('Status'), meta('DeleteOptions')];
  const operation = (action: string, answer: JsonObject, parameters: readonly JsonObject[], body?: JsonObject) => ({
    tags: [apiVersionOf(resource)],
    operationId: `${verbs[action] ?? action}${versionId(resource)}${resource.namespaced ? 'Namespaced' : ''}${resource.kind}`,
    parameters: [...parameters],
    ...(body === undefined ? {} : { requestBody: { content: body } }),
    responses: {
      '200': { description: 'OK', content: content(['application/json'], answer) },
      '401': { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvkOf(resource),
  });
  const body = content(['application/json'], ref);
  const prefix = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const base = `${prefix}/${resource.version}${resource.namespaced ? '/namespaces/{namespace}' : ''}/${resource.plural}`;
  const path = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } });
  const scope = resource.namespaced ? [path('namespace')] : [];
  const create = operation('post', ref, writeParameters, body);
  const types = patchTypes.slice(0, resource.isCustom ? -1 : undefined);
  const patch = operation('patch', ref, writeParameters, content(types, { type: 'object' }));
  const [read, replace] = [operation('get', ref, []), operation('put', ref, writeParameters, body)];
  const ofStatus = (one: JsonObject) => ({ ...one, operationId: `${one.operationId}Status` });
  const named = [path('name'), ...scope];
  const list = operation('list', listRef, listParameters);
  const removeAll = operation('deletecollection', status, [...deleteParameters, ...listParameters]);
  const remove = operation('delete', status, deleteParameters, content(['application/json'], options));
  const paths: JsonObject = {
    [base]: { get: list, post: create, delete: removeAll, parameters: scope },
    [`${base}/{name}`]: { get: read, put: replace, patch, delete: remove, parameters: named },
  };
  if (resource.hasStatus) {
    const operations = { get: ofStatus(read), put: ofStatus(replace), patch: ofStatus(patch) };
    paths[`${base}/{name}/status`] = { ...operations, parameters: named };
  }
  if (resource.namespaced) {
    const operationId = `list${versionId(resource)}${resource.kind}ForAllNamespaces`;
    paths[`${prefix}/${resource.version}/${resource.plural}`] = { get: { ...list, operationId } };
  }
  return paths;
}

/** The OpenAPI v3 document of the resources of one group and version. The work is linear in their schemas. */
export function buildDocument(resources: readonly Resource[]): JsonObject {
  const components: Record<string, JsonObject> = {};
  const paths: JsonObject = {};
  for (const resource of resources) {
    const name = resourceSchemaName(resource);
    components[name] = resourceSchema(resource);
    components[`${name}List`] = {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: meta('ListMeta'),
        items: { type: 'array', items: referTo(name) },
      },
      'x-kubernetes-group-version-kind': [{ ...gvkOf(resource), kind: resource.listKind }],
    };
    Object.assign(paths, operations(resource));
  }
  include({ components, paths }, components);
  return {
    openapi: '3.0.0',
    info: { title: 'extensionconfig-webhook sandbox', version: 'v1' },
    paths,
    components: { schemas: components, securitySchemes: { BearerToken: { type: 'http', scheme: 'bearer' } } },
  };
}
