import type { Schema } from '../../kubernetes/schema/index.ts';
import { modelRules } from './field-rules.ts';
import typeTables from './type-tables.generated.json' with { type: 'json' };

/** The name, type and format of each field, by the name of the model. Generated from @kubernetes/client-node. */
const fieldsByModel: ReadonlyMap<string, readonly (readonly [name: string, type: string, format: string])[]> = new Map(
  Object.entries(typeTables as unknown as Record<string, [string, string, string][]>),
);

/**
 * The lists whose items a strategic merge patch merges, by model and field: the key of the items; null for plain values, which
 * are a set.
 */
const mergeKeys: Record<string, string | null> = {
  'V1ObjectMeta.ownerReferences': 'uid',
  'V1ObjectMeta.finalizers': null,
  'V1ServiceAccount.secrets': 'name',
  'V1PodSpec.volumes': 'name',
  'V1PodSpec.initContainers': 'name',
  'V1PodSpec.containers': 'name',
  'V1PodSpec.ephemeralContainers': 'name',
  'V1PodSpec.imagePullSecrets': 'name',
  'V1PodSpec.hostAliases': 'ip',
  'V1PodSpec.topologySpreadConstraints': 'topologyKey',
  'V1PodSpec.resourceClaims': 'name',
  'V1PodSpec.schedulingGates': 'name',
  'V1Container.ports': 'containerPort',
  'V1Container.env': 'name',
  'V1Container.volumeMounts': 'mountPath',
  'V1Container.volumeDevices': 'devicePath',
  'V1ServiceSpec.ports': 'port',
  'V1MutatingWebhookConfiguration.webhooks': 'name',
  'V1ValidatingWebhookConfiguration.webhooks': 'name',
  'V1MutatingWebhook.matchConditions': 'name',
  'V1ValidatingWebhook.matchConditions': 'name',
};

const modelNames = new WeakMap<Schema, string>();
const schemas = new Map<string, Schema>();

/** Name of the model that a built-in schema describes, or undefined for schemas without one. */
export function modelNameOf(schema: Schema): string | undefined {
  return modelNames.get(schema);
}

function schemaOfType(type: string, format: string): Schema {
  const list = /^Array<(.*)>$/.exec(type);
  if (list !== null) {
    return { type: 'array', items: schemaOfType(list[1] as string, format) };
  }
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map !== null) {
    return { type: 'object', additionalProperties: schemaOfType(map[1] as string, format) };
  }
  switch (type) {
    case 'string':
      return format === '' ? { type: 'string' } : { type: 'string', format };
    case 'boolean':
      return { type: 'boolean' };
    case 'number':
      return { type: format.startsWith('int') ? 'integer' : 'number', ...(format === '' ? {} : { format }) };
    case 'Date':
      return { type: 'string', format: 'date-time', nullable: true };
    case 'V1MicroTime':
      return { type: 'string', nullable: true };
    case 'IntOrString':
      return { 'x-kubernetes-int-or-string': true };
    default:
      return schemaOfModel(type) ?? { 'x-kubernetes-preserve-unknown-fields': true };
  }
}

/** How the items of a list field are merged. Conditions have their type as key, and ephemeral containers those of others. */
function listRules(path: string): Schema {
  const isConditions = /(?<!V1CustomResourceDefinition)Status\.conditions$/.test(path);
  const mergeKey = isConditions ? 'type' : mergeKeys[path.replace('V1EphemeralContainer.', 'V1Container.')];
  return {
    ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-strategy': 'merge' }),
    ...(mergeKey ? { 'x-kubernetes-patch-merge-key': mergeKey } : {}),
  };
}

function schemaOfField(model: string, name: string, type: string, format: string): Schema {
  // Two fields of JSONSchemaProps that the type tables call `any`: a schema, and a schema or a boolean.
  if (model === 'V1JSONSchemaProps' && name === 'items') {
    return schemaOfModel(model) as Schema;
  }
  if (model === 'V1JSONSchemaProps' && name === 'additionalProperties') {
    const schemaOrBoolean: Schema = { properties: schemaOfModel(model)?.properties ?? {}, nullable: true };
    modelNames.set(schemaOrBoolean, model);
    return schemaOrBoolean;
  }
  const schema = schemaOfType(type, format);
  // The schema of a model is the same wherever it is used. Go decodes null as "not set" for every type.
  return modelNames.has(schema)
    ? schema
    : {
        ...schema,
        nullable: true,
        ...(schema.type === 'array' ? listRules(`${model}.${name}`) : {}),
        ...modelRules[model]?.fields?.[name],
      };
}

/**
 * The structural schema of one of Kubernetes' own types, made from the models of @kubernetes/client-node, which have
 * names and types of fields, and from `modelRules`. Schemas may be recursive. Their fields are added on first access.
 *
 * @returns undefined if there is no such model.
 */
export function schemaOfModel(name: string): Schema | undefined {
  const known = schemas.get(name);
  if (known !== undefined || !fieldsByModel.has(name)) {
    return known;
  }
  const { required } = modelRules[name] ?? {};
  const schema: Schema = {
    type: 'object',
    nullable: true,
    ...(required === undefined ? {} : { required }),
    get properties() {
      const properties: Record<string, Schema> = {};
      // Replaced before it has fields, because types may be recursive.
      Object.defineProperty(schema, 'properties', { value: properties });
      for (const [field, type, format] of fieldsByModel.get(name) ?? []) {
        properties[field] = schemaOfField(name, field, type, format);
      }
      return properties;
    },
  };
  schemas.set(name, schema);
  modelNames.set(schema, name);
  return schema;
}

export function objectMetaSchema(): Schema {
  return schemaOfModel('V1ObjectMeta') as Schema;
}
