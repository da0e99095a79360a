import { isJsonObject, type Json } from '../../kubernetes/index.ts';
import { fieldOf, type Schema } from '../../kubernetes/schema/index.ts';
import { modelRules } from './field-rules.ts';
import typeTables from './type-tables.json' with { type: 'json' };

/** The name, type and format of each field, by the name of the model. Generated from @kubernetes/client-node. */
const fieldsByModel: ReadonlyMap<string, readonly (readonly [name: string, type: string, format: string])[]> = new Map(
  Object.entries(typeTables as unknown as Record<string, [string, string, string][]>),
);

/**
 * The list fields that strategic merge patch merges, by model and field: the key of their items ('' for plain values).
 */
const mergeKeys: Record<string, string> = {
  'V1ObjectMeta.ownerReferences': 'uid',
  'V1ObjectMeta.finalizers': '',
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
  'V1PodStatus.podIPs': 'ip',
  'V1PodStatus.hostIPs': 'ip',
  'V1PodStatus.resourceClaimStatuses': 'name',
  'V1ContainerStatus.volumeMounts': 'mountPath',
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

/** Keys of lists for server-side apply, where they differ from those for strategic merge patch. */
const applyKeys: Record<string, string[]> = {
  'V1Container.ports': ['containerPort', 'protocol'],
  'V1ServiceSpec.ports': ['port', 'protocol'],
  'V1PodSpec.topologySpreadConstraints': ['topologyKey', 'whenUnsatisfiable'],
  'V1CustomResourceDefinitionStatus.conditions': ['type'],
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

/**
 * Fields of JSONSchemaProps that the type tables call `any`, though they contain a schema, or a schema or a boolean.
 */
function schemaInSchema(path: string, whole: Schema): Schema | undefined {
  if (path === 'V1JSONSchemaProps.items') {
    return whole;
  }
  if (path === 'V1JSONSchemaProps.additionalProperties') {
    // Without a type, because a boolean is also allowed.
    const schemaOrBoolean: Schema = { properties: whole.properties ?? {}, nullable: true };
    modelNames.set(schemaOrBoolean, 'V1JSONSchemaProps');
    return schemaOrBoolean;
  }
  return undefined;
}

/** The merge key of a list field; conditions have their type, and ephemeral containers those of containers. */
function mergeKeyOf(path: string): string | undefined {
  const isConditions = path.endsWith('Status.conditions') && path !== 'V1CustomResourceDefinitionStatus.conditions';
  return isConditions ? 'type' : mergeKeys[path];
}

/** Adds the fields of a model to a schema's properties. */
function fill(properties: Record<string, Schema>, name: string, schema: Schema): void {
  for (const [baseName, type, format] of fieldsByModel.get(name) ?? []) {
    const path = `${name}.${baseName}`;
    const field = schemaInSchema(path, schema) ?? schemaOfType(type, format);
    // Go decodes null as "not set" for every type. The schema of a model is shared and already nullable.
    const property = modelNames.has(field) ? field : { ...field, nullable: true };
    const listed = path.replace('V1EphemeralContainer.', 'V1Container.');
    const mergeKey = mergeKeyOf(listed);
    const listKeys = applyKeys[listed] ?? (mergeKey === undefined || mergeKey === '' ? undefined : [mergeKey]);
    if (mergeKey !== undefined) {
      property['x-kubernetes-patch-strategy'] = 'merge';
      if (mergeKey !== '') {
        property['x-kubernetes-patch-merge-key'] = mergeKey;
      }
    }
    if (property.type === 'array') {
      property['x-kubernetes-list-type'] = listKeys !== undefined ? 'map' : mergeKey === '' ? 'set' : 'atomic';
      if (listKeys !== undefined) {
        property['x-kubernetes-list-map-keys'] = listKeys;
      }
    }
    properties[baseName] = Object.assign(property, modelRules[name]?.fields?.[baseName]);
  }
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
  const schema: Schema = { type: 'object', ...(required === undefined ? {} : { required }) };
  Object.defineProperty(schema, 'properties', {
    configurable: true,
    enumerable: true,
    get() {
      const properties: Record<string, Schema> = {};
      // Cached before it has fields, because types may be recursive.
      Object.defineProperty(schema, 'properties', { value: properties });
      fill(properties, name, schema);
      return properties;
    },
  });
  schemas.set(name, schema);
  modelNames.set(schema, name);
  if (name === 'V1LabelSelector' || name === 'V1ObjectReference' || name === 'V1SecretReference') {
    schema['x-kubernetes-map-type'] = 'atomic';
  }
  schema.nullable = true;
  return schema;
}

/** Removes empty texts that one of Kubernetes' own types requires, in place: to Go they are not set. */
export function dropEmpty(value: Json, schema: Schema | undefined): void {
  if (Array.isArray(value)) {
    for (const item of value) {
      dropEmpty(item, schema?.items);
    }
  } else if (isJsonObject(value)) {
    for (const [key, field] of Object.entries(value)) {
      if (field === '' && schema?.required?.includes(key)) {
        delete value[key];
      } else {
        dropEmpty(field, fieldOf(schema, key));
      }
    }
  }
}

/** Schema of metav1.ObjectMeta. */
export function objectMetaSchema(): Schema {
  return schemaOfModel('V1ObjectMeta') as Schema;
}
