import {
  atomicList,
  boolean,
  int64,
  list,
  type MessageSchema,
  object,
  ref,
  string,
  stringMap,
} from '../catalog/schema.ts';

/** Components of Kubernetes that messages use, by short name. */
export const kubernetes = {
  nodeSwapStatus: 'k8s.io.api.core.v1.NodeSwapStatus',
  nodeSystemInfo: 'k8s.io.api.core.v1.NodeSystemInfo',
  json: 'k8s.io.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
  condition: 'k8s.io.apimachinery.pkg.apis.meta.v1.Condition',
  fieldsV1: 'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1',
  labelSelector: 'k8s.io.apimachinery.pkg.apis.meta.v1.LabelSelector',
  labelSelectorRequirement: 'k8s.io.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement',
  managedFieldsEntry: 'k8s.io.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry',
  objectMeta: 'k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  ownerReference: 'k8s.io.apimachinery.pkg.apis.meta.v1.OwnerReference',
  time: 'k8s.io.apimachinery.pkg.apis.meta.v1.Time',
  rawExtension: 'k8s.io.apimachinery.pkg.runtime.RawExtension',
  intOrString: 'k8s.io.apimachinery.pkg.util.intstr.IntOrString',
} as const;

/** The schemas of Kubernetes' own types, by component name. */
export const kubernetesSchemas: Readonly<Record<string, MessageSchema>> = {
  [kubernetes.nodeSwapStatus]: object('Swap space of a node.', { optional: { capacity: int64() } }),
  [kubernetes.nodeSystemInfo]: object('System software and hardware of a node.', {
    required: {
      machineID: string(),
      systemUUID: string(),
      bootID: string(),
      kernelVersion: string(),
      osImage: string(),
      containerRuntimeVersion: string(),
      kubeletVersion: string(),
      kubeProxyVersion: string(),
      operatingSystem: string(),
      architecture: string(),
    },
    optional: { swap: ref(kubernetes.nodeSwapStatus) },
  }),
  [kubernetes.condition]: object('A condition in the Kubernetes format.', {
    required: {
      type: string(),
      status: string(),
      lastTransitionTime: ref(kubernetes.time),
      reason: string(),
      message: string(),
    },
    optional: { observedGeneration: int64() },
  }),
  [kubernetes.labelSelector]: object(
    'Selects objects by their labels. All requirements must be met; an empty selector selects everything.',
    { optional: { matchExpressions: atomicList(ref(kubernetes.labelSelectorRequirement)), matchLabels: stringMap() } },
    { 'x-kubernetes-map-type': 'atomic' },
  ),
  [kubernetes.labelSelectorRequirement]: object('A requirement for a label.', {
    required: { key: string(), operator: string('In, NotIn, Exists or DoesNotExist.') },
    optional: { values: atomicList(string()) },
  }),
  [kubernetes.managedFieldsEntry]: object('Which manager set which fields. Hooks receive objects without it.', {
    optional: {
      apiVersion: string(),
      fieldsType: string(),
      fieldsV1: ref(kubernetes.fieldsV1),
      manager: string(),
      operation: string(),
      subresource: string(),
      time: ref(kubernetes.time),
    },
  }),
  [kubernetes.objectMeta]: object('Metadata of an object.', {
    optional: {
      annotations: stringMap(),
      clusterName: string(),
      creationTimestamp: ref(kubernetes.time),
      deletionGracePeriodSeconds: int64(),
      deletionTimestamp: ref(kubernetes.time),
      finalizers: list(string()),
      generateName: string(),
      generation: int64(),
      labels: stringMap(),
      managedFields: list(ref(kubernetes.managedFieldsEntry)),
      name: string(),
      namespace: string(),
      ownerReferences: list(ref(kubernetes.ownerReference)),
      resourceVersion: string(),
      selfLink: string(),
      uid: string(),
    },
  }),
  [kubernetes.ownerReference]: object(
    'An object that owns this one.',
    {
      required: { apiVersion: string(), kind: string(), name: string(), uid: string('UID of the owner.') },
      optional: { blockOwnerDeletion: boolean(), controller: boolean() },
    },
    { 'x-kubernetes-map-type': 'atomic' },
  ),
  [kubernetes.json]: { description: 'Any JSON value.' },
  [kubernetes.fieldsV1]: { type: 'object', description: 'A set of fields.' },
  [kubernetes.time]: {
    type: 'string',
    format: 'date-time',
    description: 'A point in time (RFC 3339).',
    example: '2026-08-21T12:00:00Z',
  },
  [kubernetes.rawExtension]: { type: 'object', description: 'Any Kubernetes object, with apiVersion and kind.' },
  [kubernetes.intOrString]: {
    format: 'int-or-string',
    description: 'A number, or a string such as `40%`.',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  },
};
