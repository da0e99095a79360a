import { fieldAt } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';
import { schemaOfModel } from '../models/built-in-schemas.ts';
import { type Column, type KindStrategy, type Resource, storageNameOf } from '../resources/resource.ts';
import { apiServiceColumns, apiServiceStrategy } from './api-service.ts';
import { age, column, portsOf, ready, roleColumns, sizeOf, webhooks } from './columns.ts';
import { configMapStrategy, namespaceStrategy, secretStrategy, serviceStrategy } from './core-strategies.ts';
import { definitionStrategy } from './definition.ts';
import { asCoreEvent, coreEventStrategy, eventColumns, eventStorage, eventStrategy } from './events.ts';
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
  /** The collection whose objects it shares, if any. */
  storage?: string;
  columns?: Column[];
  strategy?: KindStrategy;
}

const rbac = 'rbac.authorization.k8s.io';
const registration = 'admissionregistration.k8s.io';
/** There is no authorization: a client with the token has all permissions, and may impersonate any user. */
const allowing: KindStrategy = {
  answer: (object) => ({
    ...object,
    status: { allowed: true, reason: 'the sandbox allows every request' },
  }),
};

/** The built-in kinds. There are no pods, and the only controllers are those of namespaces, definitions and events. */
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
      column('Cluster-IP', (object) => String(fieldAt(object, 'spec', 'clusterIP') ?? '<none>')),
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
    columns: [column('Status', (object) => String(fieldAt(object, 'status', 'phase') ?? 'Pending')), age],
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
    strategy: roleStrategy,
  },
  { group: rbac, kind: 'RoleBinding', plural: 'rolebindings', columns: roleColumns(), strategy: bindingStrategy },
  {
    group: rbac,
    kind: 'ClusterRole',
    plural: 'clusterroles',
    clusterScoped: true,
    columns: [column('Created At', '.metadata.creationTimestamp')],
    strategy: roleStrategy,
  },
  {
    group: rbac,
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    clusterScoped: true,
    columns: roleColumns(),
    strategy: bindingStrategy,
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
    group: 'apiregistration.k8s.io',
    kind: 'APIService',
    plural: 'apiservices',
    categories: ['api-extensions'],
    clusterScoped: true,
    hasStatus: true,
    columns: [...apiServiceColumns, { ...age, type: 'string', isTime: true }],
    strategy: apiServiceStrategy,
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
      column('Up-to-date', (object) => Number(fieldAt(object, 'status', 'updatedReplicas') ?? 0), 'string'),
      column('Available', (object) => Number(fieldAt(object, 'status', 'availableReplicas') ?? 0), 'string'),
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
    strategy: scaledStrategy,
  },
  {
    group: 'apps',
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    strategy: scaledStrategy,
  },
  {
    group: 'apps',
    kind: 'DaemonSet',
    plural: 'daemonsets',
    shortNames: ['ds'],
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    strategy: daemonSetStrategy,
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
          `${String(fieldAt(object, 'status', 'succeeded') ?? 0)}/${String(fieldAt(object, 'spec', 'completions') ?? 1)}`,
      ),
      age,
    ],
    strategy: jobStrategy,
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
      column('Suspend', (object) => (fieldAt(object, 'spec', 'suspend') === true ? 'True' : 'False')),
      age,
    ],
    strategy: cronJobStrategy,
  },
  {
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    hasGeneration: true,
    strategy: networkPolicyStrategy,
  },
  {
    group: 'policy',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    hasStatus: true,
    hasGeneration: true,
    strategy: disruptionBudgetStrategy,
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
    strategy: priorityClassStrategy,
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

/** The resources that every sandbox serves, each in a single version. */
export function builtInResources(): Resource[] {
  return kinds.map(resourceOf);
}
