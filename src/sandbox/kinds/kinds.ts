import { isJsonObject, isSame, type Json, type JsonObject, type StatusCause } from '../../kubernetes/index.ts';
import { type Column, type KindStrategy, type Resource, storageNameOf } from '../resources/index.ts';
import { forbiddenField, invalid, type Schema, schemaOfModel } from '../schema/index.ts';
import { definitionStrategy } from './definition.ts';
import { asCoreEvent, coreEventStrategy, eventColumns, eventStorage, eventStrategy } from './events.ts';
import { webhookConfigurationStrategy } from './webhook-configuration.ts';

interface Kind {
  group?: string;
  kind: string;
  plural: string;
  shortNames?: string[];
  categories?: string[];
  clusterScoped?: boolean;
  hasStatus?: boolean;
  hasGeneration?: boolean;
  model?: string;
  /** Where its objects are, if they are those of another kind. */
  storage?: string;
  columns?: Column[];
  strategy?: KindStrategy;
}

function at(object: JsonObject, ...path: string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, key) => (isJsonObject(value) ? value[key] : undefined), object);
}

function column(name: string, value: Column['value'], type = 'string', description = name): Column {
  return { name, type, description, priority: 0, value };
}

function sizeOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0;
}

const age = column(
  'Age',
  '.metadata.creationTimestamp',
  'date',
  'Time since the object was created, on the clock of the server',
);

function portsOf(object: JsonObject): string {
  const ports = at(object, 'spec', 'ports');
  return (Array.isArray(ports) ? ports.filter(isJsonObject) : [])
    .map(({ port, protocol }) => `${String(port)}/${String(protocol ?? 'TCP')}`)
    .join(',');
}

/** Namespaces that a cluster cannot do without (apiserver, admission plugin NamespaceLifecycle). */
const immortal = ['default', 'kube-public', 'kube-system'];

const namespaceStrategy: KindStrategy = {
  nameFormat: 'label',
  deletionProblem: (name) => (immortal.includes(name) ? 'this namespace may not be deleted' : undefined),
  prepare(object, old) {
    const metadata = object.metadata as JsonObject;
    const labels = isJsonObject(metadata.labels) ? metadata.labels : {};
    metadata.labels = { ...labels, 'kubernetes.io/metadata.name': metadata.name ?? '' };
    const spec = isJsonObject(object.spec) ? object.spec : {};
    object.spec = {
      ...spec,
      finalizers: (old === undefined ? undefined : at(old, 'spec', 'finalizers')) ?? ['kubernetes'],
    };
    const status = isJsonObject(object.status) ? object.status : {};
    object.status = { ...status, phase: metadata.deletionTimestamp === undefined ? 'Active' : 'Terminating' };
  },
  markForDeletion(object) {
    object.status = { ...(isJsonObject(object.status) ? object.status : {}), phase: 'Terminating' };
  },
};

/** What an object that says `immutable: true` must keep (apimachinery, core validation of Secret and ConfigMap). */
function immutableCauses(object: JsonObject, old: JsonObject | undefined, fields: readonly string[]): StatusCause[] {
  if (old?.immutable !== true) {
    return [];
  }
  const why = 'field is immutable when `immutable` is set';
  return [
    ...(object.immutable === true ? [] : [forbiddenField('immutable', why)]),
    ...fields
      .filter((field) => !isSame(object[field] ?? {}, old[field] ?? {}))
      .map((field) => forbiddenField(field, why)),
  ];
}

const configMapStrategy: KindStrategy = {
  validate: (object, old) => immutableCauses(object, old, ['data', 'binaryData']),
};

const secretStrategy: KindStrategy = {
  validate: (object, old) => [
    ...(old !== undefined && object.type !== old.type
      ? [invalid('type', object.type ?? null, 'field is immutable')]
      : []),
    ...immutableCauses(object, old, ['data']),
  ],
  prepare(object) {
    object.type ??= 'Opaque';
    if (isJsonObject(object.stringData)) {
      const data = isJsonObject(object.data) ? object.data : {};
      const encoded = Object.entries(object.stringData).map(([key, value]) => [
        key,
        Buffer.from(String(value)).toString('base64'),
      ]);
      object.data = { ...data, ...Object.fromEntries(encoded) };
      delete object.stringData;
    }
  },
};

const serviceStrategy: KindStrategy = {
  nameFormat: 'label1035',
  prepare(object) {
    if (isJsonObject(object.spec)) {
      object.spec.type ??= 'ClusterIP';
      object.spec.sessionAffinity ??= 'None';
      for (const port of Array.isArray(object.spec.ports) ? object.spec.ports.filter(isJsonObject) : []) {
        port.protocol ??= 'TCP';
        port.targetPort ??= port.port ?? null;
      }
    }
  },
};

const replicas: KindStrategy = {
  hasScale: true,
  prepare(object) {
    if (isJsonObject(object.spec)) {
      object.spec.replicas ??= 1;
    }
  },
};

/** The annotation of a Deployment that somebody outside the API server runs, who writes its status. */
const runsInSandbox = 'extensionconfig-webhook/runs-in-sandbox';

/**
 * A Deployment that its controller has seen and given up on: without `observedGeneration` and this condition
 * `kubectl rollout status` would wait for ever.
 */
const deploymentStrategy: KindStrategy = {
  ...replicas,
  observe(object, now) {
    if (at(object, 'metadata', 'annotations', runsInSandbox) !== undefined) {
      return;
    }
    const message = 'nothing runs in the sandbox';
    const times = { lastUpdateTime: now, lastTransitionTime: now };
    object.status = {
      ...(isJsonObject(object.status) ? object.status : {}),
      observedGeneration: at(object, 'metadata', 'generation') ?? 1,
      conditions: [
        { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message, ...times },
        { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message, ...times },
      ],
    };
  },
};

/** What the controllers of other workloads write first; `counts` are the fields of their status that are required. */
function observing(counts: JsonObject): Pick<KindStrategy, 'observe'> {
  return {
    observe(object) {
      object.status = {
        ...counts,
        ...(isJsonObject(object.status) ? object.status : {}),
        observedGeneration: at(object, 'metadata', 'generation') ?? 1,
      };
    },
  };
}

/** Without nodes no DaemonSet has pods to start. */
const daemonSetCounts = { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 };

const pathNamed: KindStrategy = { nameFormat: 'path' };

const ready = column('Ready', (object) => {
  const wanted = at(object, 'spec', 'replicas') ?? 1;
  return `${String(at(object, 'status', 'readyReplicas') ?? 0)}/${String(wanted)}`;
});

const rbac = 'rbac.authorization.k8s.io';
const registration = 'admissionregistration.k8s.io';
const webhooks = column('Webhooks', (object) => sizeOf(object.webhooks), 'integer');

function roleColumns(): Column[] {
  return [
    column('Role', (object) => `${String(at(object, 'roleRef', 'kind'))}/${String(at(object, 'roleRef', 'name'))}`),
    age,
  ];
}

/** There is no authorization: a client with the token has all permissions, and may impersonate any user. */
const allowing: KindStrategy = {
  answer: (object) => ({
    ...object,
    status: { allowed: true, reason: 'the sandbox allows every request' },
  }),
};

/** The built-in kinds. Nothing is run: no pods, no controllers but those of namespaces and definitions. */
const kinds: readonly Kind[] = [
  {
    kind: 'Namespace',
    plural: 'namespaces',
    shortNames: ['ns'],
    clusterScoped: true,
    hasStatus: true,
    columns: [column('Status', '.status.phase'), age],
    strategy: namespaceStrategy,
  },
  {
    kind: 'Secret',
    plural: 'secrets',
    columns: [column('Type', '.type'), column('Data', (object) => sizeOf(object.data), 'string'), age],
    strategy: secretStrategy,
  },
  {
    kind: 'ConfigMap',
    plural: 'configmaps',
    shortNames: ['cm'],
    columns: [column('Data', (object) => sizeOf(object.data) + sizeOf(object.binaryData), 'string'), age],
    strategy: configMapStrategy,
  },
  {
    kind: 'Service',
    plural: 'services',
    shortNames: ['svc'],
    categories: ['all'],
    hasStatus: true,
    columns: [
      column('Type', '.spec.type'),
      column('Cluster-IP', (object) => String(at(object, 'spec', 'clusterIP') ?? '<none>')),
      column('Port(s)', portsOf),
      age,
    ],
    strategy: serviceStrategy,
  },
  {
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    shortNames: ['sa'],
    columns: [column('Secrets', (object) => sizeOf(object.secrets), 'string'), age],
  },
  {
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
    hasStatus: true,
    columns: [column('Status', (object) => String(at(object, 'status', 'phase') ?? 'Pending')), age],
  },
  {
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    model: 'CoreV1Event',
    columns: eventColumns((event) => event),
    strategy: coreEventStrategy,
  },
  {
    group: 'events.k8s.io',
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    model: 'EventsV1Event',
    storage: eventStorage,
    columns: eventColumns(asCoreEvent),
    strategy: eventStrategy,
  },
  {
    group: 'coordination.k8s.io',
    kind: 'Lease',
    plural: 'leases',
    columns: [column('Holder', '.spec.holderIdentity'), age],
  },
  {
    group: rbac,
    kind: 'Role',
    plural: 'roles',
    columns: [column('Created At', '.metadata.creationTimestamp')],
    strategy: pathNamed,
  },
  { group: rbac, kind: 'RoleBinding', plural: 'rolebindings', columns: roleColumns(), strategy: pathNamed },
  {
    group: rbac,
    kind: 'ClusterRole',
    plural: 'clusterroles',
    clusterScoped: true,
    columns: [column('Created At', '.metadata.creationTimestamp')],
    strategy: pathNamed,
  },
  {
    group: rbac,
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    clusterScoped: true,
    columns: roleColumns(),
    strategy: pathNamed,
  },
  {
    group: registration,
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    clusterScoped: true,
    hasGeneration: true,
    categories: ['api-extensions'],
    columns: [webhooks, age],
    strategy: webhookConfigurationStrategy,
  },
  {
    group: registration,
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    clusterScoped: true,
    hasGeneration: true,
    categories: ['api-extensions'],
    columns: [webhooks, age],
    strategy: webhookConfigurationStrategy,
  },
  {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    clusterScoped: true,
    hasStatus: true,
    hasGeneration: true,
    columns: [column('Created At', '.metadata.creationTimestamp', 'string')],
    strategy: definitionStrategy,
  },
  {
    group: 'apps',
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    columns: [
      ready,
      column('Up-to-date', (object) => Number(at(object, 'status', 'updatedReplicas') ?? 0), 'string'),
      column('Available', (object) => Number(at(object, 'status', 'availableReplicas') ?? 0), 'string'),
      age,
    ],
    strategy: deploymentStrategy,
  },
  {
    group: 'apps',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    strategy: { ...replicas, ...observing({ replicas: 0 }) },
  },
  {
    group: 'apps',
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    strategy: { ...replicas, ...observing({ replicas: 0 }) },
  },
  {
    group: 'apps',
    kind: 'DaemonSet',
    plural: 'daemonsets',
    shortNames: ['ds'],
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    strategy: observing(daemonSetCounts),
  },
  {
    group: 'batch',
    kind: 'Job',
    plural: 'jobs',
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    columns: [
      column(
        'Completions',
        (object) =>
          `${String(at(object, 'status', 'succeeded') ?? 0)}/${String(at(object, 'spec', 'completions') ?? 1)}`,
      ),
      age,
    ],
  },
  {
    group: 'batch',
    kind: 'CronJob',
    plural: 'cronjobs',
    shortNames: ['cj'],
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    columns: [
      column('Schedule', '.spec.schedule'),
      column('Suspend', (object) => (at(object, 'spec', 'suspend') === true ? 'True' : 'False')),
      age,
    ],
  },
  {
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    hasGeneration: true,
  },
  {
    group: 'policy',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    hasStatus: true,
    hasGeneration: true,
  },
  {
    group: 'scheduling.k8s.io',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    shortNames: ['pc'],
    clusterScoped: true,
    columns: [
      column('Value', '.value', 'integer'),
      column('Global-Default', (object) => object.globalDefault === true, 'boolean'),
      age,
    ],
  },
  {
    group: 'authentication.k8s.io',
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    clusterScoped: true,
    strategy: {
      answer: (object, user) => ({ ...object, status: { userInfo: { ...user } } }),
    },
  },
  {
    group: 'authorization.k8s.io',
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    clusterScoped: true,
    strategy: allowing,
  },
  {
    group: 'authorization.k8s.io',
    kind: 'SelfSubjectRulesReview',
    plural: 'selfsubjectrulesreviews',
    clusterScoped: true,
    strategy: {
      answer: (object) => ({
        ...object,
        status: {
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
          incomplete: false,
        },
      }),
    },
  },
];

function resourceOf(kind: Kind): Resource {
  const { group = '', plural } = kind;
  const schema = schemaOfModel(kind.model ?? `V1${kind.kind}`);
  if (schema === undefined) {
    throw new Error(`@kubernetes/client-node has no model for ${kind.kind}`);
  }
  return {
    group,
    version: 'v1',
    plural,
    singular: kind.kind.toLowerCase(),
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    namespaced: kind.clusterScoped !== true,
    storage: kind.storage ?? storageNameOf(group, plural),
    storageVersion: 'v1',
    hasStatus: kind.hasStatus === true,
    hasGeneration: kind.hasGeneration === true,
    isCustom: false,
    isTerminating: false,
    schema: schema satisfies Schema,
    columns: kind.columns ?? [age],
    deprecation: undefined,
    conversion: undefined,
    strategy: kind.strategy ?? {},
  };
}

/** The resources that every sandbox serves, each in its one version. */
export function builtInResources(): Resource[] {
  return kinds.map(resourceOf);
}
