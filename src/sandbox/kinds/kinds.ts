import { fieldAt, type JsonObject, objectsAt, textAt } from '../../kubernetes/index.ts';
import { schemaOfModel } from '../models/built-in-schemas.ts';
import { type Resource, storageNameOf, type UserInfo } from '../resources/resource.ts';
import { apiServiceColumns, apiServiceStrategy } from './api-service.ts';
import { age, column, countedAt, sizeOf } from './columns.ts';
import {
  configMapStrategy,
  namespaceStrategy,
  podStrategy,
  secretStrategy,
  serviceStrategy,
} from './core-strategies.ts';
import { definitionStrategy } from './definition.ts';
import { asCoreEvent, coreEventStrategy, eventColumns, eventFields, eventStorage, eventStrategy } from './events.ts';
import {
  bindingStrategy,
  disruptionBudgetStrategy,
  networkPolicyStrategy,
  priorityClassStrategy,
  roleStrategy,
} from './policy-strategies.ts';
import { webhookConfigurationStrategy } from './webhook-configuration.ts';
import {
  cronJobStrategy,
  daemonSetStrategy,
  deploymentStrategy,
  jobStrategy,
  scaledStrategy,
} from './workload-strategies.ts';

/** A built-in kind: how it differs from a namespaced one with neither status nor generation. */
interface Kind extends Partial<Resource> {
  kind: string;
  clusterScoped?: true;
  /** Its model in @kubernetes/client-node, if that is not `V1KIND`. */
  model?: string;
}

const createdAt = column('Created At', '.metadata.creationTimestamp');
const roleColumns = [
  column('Role', (object) => `${textAt(object, 'roleRef', 'kind')}/${textAt(object, 'roleRef', 'name')}`),
  age,
];
const rbac = { group: 'rbac.authorization.k8s.io' };
const apps = { group: 'apps', categories: ['all'], hasStatus: true, hasGeneration: true };
const scale = { spec: ['spec', 'replicas'], status: ['status', 'replicas'], selector: ['spec', 'selector'] };
const batch = { ...apps, group: 'batch' };
const registration: Omit<Kind, 'kind'> = {
  group: 'admissionregistration.k8s.io',
  clusterScoped: true,
  hasGeneration: true,
  categories: ['api-extensions'],
  columns: [column('Webhooks', (object) => sizeOf(object.webhooks), 'integer'), age],
  strategy: webhookConfigurationStrategy,
};
/** There is no authorization: a client with the token has all permissions, and may impersonate any user. */
const allowed = { allowed: true, reason: 'the sandbox allows every request' };
const allRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

/** The built-in kinds. There are no pods, and the only controllers are those of namespaces, definitions and events. */
const kinds: readonly Kind[] = [
  {
    kind: 'Namespace',
    shortNames: ['ns'],
    clusterScoped: true,
    hasStatus: true,
    selectableFields: ['status.phase'],
    columns: [column('Status', '.status.phase'), age],
    strategy: namespaceStrategy,
  },
  {
    kind: 'Secret',
    selectableFields: ['type'],
    columns: [column('Type', '.type'), column('Data', (object) => sizeOf(object.data)), age],
    strategy: secretStrategy,
  },
  {
    kind: 'ConfigMap',
    shortNames: ['cm'],
    columns: [column('Data', (object) => sizeOf(object.data) + sizeOf(object.binaryData)), age],
    strategy: configMapStrategy,
  },
  {
    kind: 'Service',
    shortNames: ['svc'],
    categories: ['all'],
    hasStatus: true,
    columns: [
      column('Type', '.spec.type'),
      column('Cluster-IP', (object) => textAt(object, 'spec', 'clusterIP') || '<none>'),
      column('Port(s)', (object) =>
        objectsAt(object, 'spec', 'ports')
          .map(({ port, protocol }) => `${String(port)}/${String(protocol ?? 'TCP')}`)
          .join(','),
      ),
      age,
    ],
    strategy: serviceStrategy,
  },
  { kind: 'ServiceAccount', shortNames: ['sa'], columns: [column('Secrets', (object) => sizeOf(object.secrets)), age] },
  {
    kind: 'Pod',
    shortNames: ['po'],
    categories: ['all'],
    hasStatus: true,
    selectableFields: ['spec.nodeName', 'spec.serviceAccountName', 'status.phase', 'status.podIP'],
    columns: [column('Status', '.status.phase'), age],
    strategy: podStrategy,
  },
  {
    kind: 'Event',
    shortNames: ['ev'],
    model: 'CoreV1Event',
    selectableFields: eventFields,
    columns: eventColumns((event) => event),
    strategy: coreEventStrategy,
  },
  {
    group: 'events.k8s.io',
    kind: 'Event',
    shortNames: ['ev'],
    model: 'EventsV1Event',
    selectableFields: eventFields,
    storage: eventStorage,
    columns: eventColumns(asCoreEvent),
    strategy: eventStrategy,
  },
  { group: 'coordination.k8s.io', kind: 'Lease', columns: [column('Holder', '.spec.holderIdentity'), age] },
  { ...rbac, kind: 'Role', columns: [createdAt], strategy: roleStrategy },
  { ...rbac, kind: 'RoleBinding', columns: roleColumns, strategy: bindingStrategy },
  { ...rbac, kind: 'ClusterRole', clusterScoped: true, columns: [createdAt], strategy: roleStrategy },
  { ...rbac, kind: 'ClusterRoleBinding', clusterScoped: true, columns: roleColumns, strategy: bindingStrategy },
  { ...registration, kind: 'MutatingWebhookConfiguration' },
  { ...registration, kind: 'ValidatingWebhookConfiguration' },
  {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    clusterScoped: true,
    hasStatus: true,
    hasGeneration: true,
    columns: [createdAt],
    strategy: definitionStrategy,
  },
  {
    group: 'apiregistration.k8s.io',
    kind: 'APIService',
    categories: ['api-extensions'],
    clusterScoped: true,
    hasStatus: true,
    columns: [...apiServiceColumns, { ...age, type: 'string', isTime: true }],
    strategy: apiServiceStrategy,
  },
  {
    ...apps,
    kind: 'Deployment',
    shortNames: ['deploy'],
    scale,
    columns: [
      column(
        'Ready',
        (object) => `${countedAt(object, 'status', 'readyReplicas')}/${countedAt(object, 'spec', 'replicas')}`,
      ),
      column('Up-to-date', (object) => countedAt(object, 'status', 'updatedReplicas')),
      column('Available', (object) => countedAt(object, 'status', 'availableReplicas')),
      age,
    ],
    strategy: deploymentStrategy,
  },
  { ...apps, kind: 'ReplicaSet', shortNames: ['rs'], scale, strategy: scaledStrategy },
  { ...apps, kind: 'StatefulSet', shortNames: ['sts'], scale, strategy: scaledStrategy },
  { ...apps, kind: 'DaemonSet', shortNames: ['ds'], strategy: daemonSetStrategy },
  {
    ...batch,
    kind: 'Job',
    selectableFields: ['status.successful'],
    columns: [
      column(
        'Completions',
        (object) => `${countedAt(object, 'status', 'succeeded')}/${fieldAt(object, 'spec', 'completions') ?? 1}`,
      ),
      age,
    ],
    strategy: jobStrategy,
  },
  {
    ...batch,
    kind: 'CronJob',
    shortNames: ['cj'],
    columns: [
      column('Schedule', '.spec.schedule'),
      column('Suspend', (object) => (fieldAt(object, 'spec', 'suspend') === true ? 'True' : 'False')),
      age,
    ],
    strategy: cronJobStrategy,
  },
  {
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    shortNames: ['netpol'],
    hasGeneration: true,
    strategy: networkPolicyStrategy,
  },
  {
    group: 'policy',
    kind: 'PodDisruptionBudget',
    shortNames: ['pdb'],
    hasStatus: true,
    hasGeneration: true,
    strategy: disruptionBudgetStrategy,
  },
  {
    group: 'scheduling.k8s.io',
    kind: 'PriorityClass',
    shortNames: ['pc'],
    clusterScoped: true,
    columns: [
      column('Value', '.value', 'integer'),
      column('Global-Default', (object) => object.globalDefault === true, 'boolean'),
      age,
    ],
    strategy: priorityClassStrategy,
  },
  // Nothing here needs these kinds, but kubectl apply --prune lists their objects.
  { kind: 'Endpoints', plural: 'endpoints', shortNames: ['ep'] },
  { kind: 'PersistentVolume', shortNames: ['pv'], clusterScoped: true, hasStatus: true },
  { kind: 'PersistentVolumeClaim', shortNames: ['pvc'], hasStatus: true },
  { kind: 'ReplicationController', shortNames: ['rc'], categories: ['all'], hasStatus: true, hasGeneration: true },
  { group: 'networking.k8s.io', kind: 'Ingress', shortNames: ['ing'], hasStatus: true, hasGeneration: true },
  ...(
    [
      ['authentication.k8s.io', 'SelfSubjectReview', (user) => ({ userInfo: { ...user } })],
      ['authorization.k8s.io', 'SelfSubjectAccessReview', () => allowed],
      ['authorization.k8s.io', 'SelfSubjectRulesReview', () => allRules],
    ] as [string, string, (user: UserInfo) => JsonObject][]
  ).map(
    ([group, kind, statusFor]): Kind => ({
      group,
      kind,
      clusterScoped: true,
      strategy: { answer: (object, user) => ({ ...object, status: statusFor(user) }) },
    }),
  ),
];

function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : name.endsWith('s') ? `${name}es` : `${name}s`;
}

/** The resources that every sandbox serves, each in a single version. */
export function builtInResources(): Resource[] {
  return kinds.map(({ clusterScoped, model, kind, group = '', ...rest }) => {
    const schema = schemaOfModel(model ?? `V1${kind}`);
    if (schema === undefined) {
      throw new Error(`@kubernetes/client-node has no model for ${kind}`);
    }
    const { plural = pluralOf(kind) } = rest;
    return {
      group,
      version: 'v1',
      plural,
      singular: kind.toLowerCase(),
      kind,
      listKind: `${kind}List`,
      shortNames: [],
      categories: [],
      namespaced: clusterScoped !== true,
      storage: storageNameOf(group, plural),
      storageVersion: 'v1',
      hasStatus: false,
      hasGeneration: false,
      scale: undefined,
      selectableFields: [],
      isCustom: false,
      schema,
      columns: [age],
      deprecation: undefined,
      conversion: undefined,
      strategy: {},
      ...rest,
    };
  });
}
