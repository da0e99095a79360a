import type { Schema } from '../../kubernetes/schema/index.ts';

/** The facts about a field that the type tables lack. */
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
export const modelRules: Readonly<Record<string, ModelRules>> = {
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
