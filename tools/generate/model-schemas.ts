import * as client from '@kubernetes/client-node';
import type { Schema } from '../../src/kubernetes/schema/index.ts';
import { builtInModels } from '../../src/sandbox/kinds/kinds.ts';

/** The file with the schemas of Kubernetes' own types, by their names in OpenAPI. */
export const modelSchemasFile = new URL('../../src/sandbox/models/models.generated.json', import.meta.url);

interface Attribute {
  baseName: string;
  type: string;
  format: string;
}

/** The facts about a field that the models of @kubernetes/client-node lack. */
type Rule = Omit<Schema, 'properties'>;

interface ModelRules {
  required?: string[];
  fields?: Record<string, Rule>;
}

const serviceReference: ModelRules = {
  required: ['namespace', 'name'],
  fields: { port: { minimum: 1, maximum: 65_535, default: 443 } },
};

const webhook: ModelRules = {
  required: ['name', 'clientConfig', 'sideEffects', 'admissionReviewVersions'],
  fields: {
    sideEffects: { enum: ['None', 'NoneOnDryRun'] },
    failurePolicy: { enum: ['Fail', 'Ignore'], default: 'Fail' },
    matchPolicy: { enum: ['Equivalent', 'Exact'], default: 'Equivalent' },
    timeoutSeconds: { minimum: 1, maximum: 30, default: 10 },
  },
};

/** Quantities may be written as numbers, too. */
const quantities: Rule = { additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true } };

/**
 * Required fields, bounds and defaults of the kinds on which the API server itself acts (kubernetes 1.36:
 * pkg/apis/GROUP/validation and defaults.go of each version). Of other kinds only the types are checked.
 */
const modelRules: Readonly<Record<string, ModelRules>> = {
  V1OwnerReference: { required: ['apiVersion', 'kind', 'name', 'uid'] },
  V1LabelSelectorRequirement: {
    required: ['key', 'operator'],
    fields: { operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] } },
  },
  V1Secret: { fields: { type: { default: 'Opaque' } } },
  V1ResourceRequirements: { fields: { limits: quantities, requests: quantities } },
  V1MutatingWebhook: {
    ...webhook,
    fields: { ...webhook.fields, reinvocationPolicy: { enum: ['IfNeeded', 'Never'], default: 'Never' } },
  },
  V1ValidatingWebhook: webhook,
  V1RuleWithOperations: {
    required: ['operations', 'apiGroups', 'apiVersions', 'resources'],
    fields: {
      operations: { minItems: 1, items: { type: 'string', enum: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'] } },
      apiGroups: { minItems: 1 },
      apiVersions: { minItems: 1 },
      resources: { minItems: 1 },
      scope: { enum: ['*', 'Cluster', 'Namespaced'], default: '*' },
    },
  },
  AdmissionregistrationV1ServiceReference: serviceReference,
  ApiextensionsV1ServiceReference: serviceReference,
  ApiregistrationV1ServiceReference: serviceReference,
  V1CustomResourceDefinitionSpec: {
    required: ['group', 'scope'],
    fields: { scope: { enum: ['Cluster', 'Namespaced'] } },
  },
  V1CustomResourceDefinitionNames: { required: ['plural', 'kind'] },
  V1CustomResourceColumnDefinition: {
    required: ['name', 'type', 'jsonPath'],
    fields: { type: { pattern: '^(boolean|date|integer|number|string)$' }, jsonPath: { pattern: '^\\.' } },
  },
  V1SelectableField: { required: ['jsonPath'], fields: { jsonPath: { pattern: '^\\.', maxLength: 1024 } } },
  V1CustomResourceConversion: { required: ['strategy'], fields: { strategy: { enum: ['None', 'Webhook'] } } },
  V1WebhookConversion: { required: ['conversionReviewVersions'] },
  V1APIServiceSpec: {
    required: ['version', 'groupPriorityMinimum', 'versionPriority'],
    fields: {
      groupPriorityMinimum: { minimum: 1, maximum: 20_000 },
      versionPriority: { minimum: 1, maximum: 1000 },
    },
  },
};

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

/** A schema, or a reference to one. */
type Part = Schema | { $ref: string };

const attributesOf = (name: string): Attribute[] | undefined => {
  const model: unknown = (client as Record<string, unknown>)[name];
  return typeof model === 'function' && 'getAttributeTypeMap' in model
    ? (model.getAttributeTypeMap as () => Attribute[])()
    : undefined;
};

const meta = [
  ...['V1ObjectMeta', 'V1LabelSelector', 'V1LabelSelectorRequirement', 'V1OwnerReference', 'V1ManagedFieldsEntry'],
  ...['V1ListMeta', 'V1DeleteOptions', 'V1Status'],
];

const nameOf = (model: string) =>
  meta.includes(model)
    ? `io.k8s.apimachinery.pkg.apis.meta.v1.${model.slice(2)}`
    : `io.k8s.api.${model.replace(/^(?:Core)?V1/, 'v1.')}`;

function partOfType(type: string, format: string, names: Set<string>): Part {
  const list = /^Array<(.*)>$/.exec(type);
  if (list !== null) {
    return { type: 'array', items: partOfType(list[1] as string, format, names) as Schema };
  }
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map !== null) {
    return { type: 'object', additionalProperties: partOfType(map[1] as string, format, names) as Schema };
  }
  switch (type) {
    case 'string':
      return format === '' ? { type: 'string' } : { type: 'string', format };
    case 'boolean':
      return { type: 'boolean' };
    case 'number':
      return { type: format.startsWith('int') ? 'integer' : 'number', ...(format === '' ? {} : { format }) };
    case 'Date':
      return { type: 'string', format: 'date-time' };
    case 'V1MicroTime':
      return { type: 'string' };
    case 'IntOrString':
      return { 'x-kubernetes-int-or-string': true };
    default:
      if (attributesOf(type) === undefined) {
        return { 'x-kubernetes-preserve-unknown-fields': true };
      }
      names.add(type);
      return { $ref: `#/components/schemas/${nameOf(type)}` };
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

/** Two fields of JSONSchemaProps that @kubernetes/client-node calls `any`: a schema, and a schema or a boolean. */
const nested: Readonly<Record<string, string>> = {
  'V1JSONSchemaProps.items': 'V1JSONSchemaProps',
  'V1JSONSchemaProps.additionalProperties': 'V1JSONSchemaPropsOrBool',
};

/** The schema of a model; the models that it refers to are added to `names`. */
function schemaOf(model: string, names: Set<string>): object {
  const isOrBool = model.endsWith('OrBool');
  const known = model.replace(/OrBool$/, '');
  const { required, fields = {} } = modelRules[known] ?? {};
  const properties = (attributesOf(known) ?? []).map(({ baseName, type, format }): [string, Part] => {
    const other = nested[`${known}.${baseName}`];
    if (other !== undefined) {
      names.add(other);
      return [baseName, { $ref: `#/components/schemas/${nameOf(other)}` }];
    }
    const part = partOfType(type, format, names);
    return [
      baseName,
      '$ref' in part
        ? part
        : { ...part, ...(part.type === 'array' ? listRules(`${known}.${baseName}`) : {}), ...fields[baseName] },
    ];
  });
  return {
    ...(isOrBool ? {} : { type: 'object' }),
    ...(required && { required }),
    properties: Object.fromEntries(properties),
  };
}

/**
 * The text of `modelSchemasFile`: the models of the sandbox's built-in kinds, and all that these refer to, with the names and
 * types of fields that @kubernetes/client-node has, and the rules above.
 */
export function modelSchemasText(): string {
  const names = new Set([...builtInModels, ...meta]);
  // The set grows meanwhile.
  const lines = [
    ...names.values().map((name) => `${JSON.stringify(nameOf(name))}:${JSON.stringify(schemaOf(name, names))}`),
  ];
  return `{\n${lines.toSorted().join(',\n')}\n}\n`;
}
