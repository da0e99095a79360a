import { fieldAt, isJsonObject, isSame, type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import { invalid } from '../../kubernetes/schema/index.ts';
import { mapValues, schemaOfModel } from '../models/models.ts';
import { age, column, type KindStrategy, type Resource, storageNameOf } from '../resources/resource.ts';
import { apiServiceColumns, apiServiceStrategy } from './api-service.ts';
import { definitionStrategy } from './definition.ts';
import { webhookConfigurationStrategy } from './webhook-configuration.ts';

/** Namespaces that cannot be deleted (apiserver, admission plugin NamespaceLifecycle). */
const immortal = ['default', 'kube-public', 'kube-system'];

const namespaceStrategy: KindStrategy = {
  nameFormat: 'label',
  deletionProblem: (name) => (immortal.includes(name) ? 'this namespace may not be deleted' : undefined),
  prepare(object, old) {
    const metadata = object.metadata as JsonObject;
    metadata.labels = { ...objectAt(metadata, 'labels'), 'kubernetes.io/metadata.name': metadata.name ?? '' };
    object.spec = { ...objectAt(object, 'spec'), finalizers: fieldAt(old, 'spec', 'finalizers') ?? ['kubernetes'] };
    const phase = metadata.deletionTimestamp === undefined ? 'Active' : 'Terminating';
    object.status = { ...objectAt(object, 'status'), phase };
  },
  markForDeletion(object) {
    object.status = { ...objectAt(object, 'status'), phase: 'Terminating' };
  },
};

const secretStrategy: KindStrategy = {
  prepare(object) {
    if (isJsonObject(object.stringData)) {
      const encoded = mapValues(object.stringData, (value) => Buffer.from(String(value)).toString('base64'));
      object.data = { ...objectAt(object, 'data'), ...encoded };
      delete object.stringData;
    }
  },
};

/** Jobs, which an upgrade of an installation has to replace. */
const jobStrategy: KindStrategy = {
  validate(object, old) {
    const template = fieldAt(object, 'spec', 'template');
    const isKept = old === undefined || isSame(template, fieldAt(old, 'spec', 'template'));
    return isKept ? [] : [invalid('spec.template', template, 'field is immutable')];
  },
};

/** A built-in kind: how it differs from a namespaced one with neither status nor generation. */
type Kind = Partial<Resource> & Pick<Resource, 'kind'>;

const all = { categories: ['all'], hasStatus: true };
const apps = { ...all, group: 'apps', hasGeneration: true };
const batch = { ...apps, group: 'batch' };
const rbac = { group: 'rbac.authorization.k8s.io', strategy: { nameFormat: 'path' } } as const;
const plain = { categories: [], strategy: {} };
const registration: Omit<Kind, 'kind'> = {
  group: 'admissionregistration.k8s.io',
  namespaced: false,
  hasGeneration: true,
  categories: ['api-extensions'],
  strategy: webhookConfigurationStrategy,
};

/** Of these, the API server acts on namespaces, webhook configurations, definitions and APIServices; it stores the others. */
const kinds: readonly Kind[] = [
  {
    kind: 'Namespace',
    shortNames: ['ns'],
    namespaced: false,
    hasStatus: true,
    selectableFields: ['status.phase'],
    columns: [column('Status', '.status.phase'), age],
    strategy: namespaceStrategy,
  },
  { ...registration, kind: 'MutatingWebhookConfiguration' },
  { ...registration, kind: 'ValidatingWebhookConfiguration' },
  {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    namespaced: false,
    hasStatus: true,
    hasGeneration: true,
    columns: [column('Created At', '.metadata.creationTimestamp')],
    strategy: definitionStrategy,
  },
  { ...registration, ...plain, kind: 'ValidatingAdmissionPolicy', hasStatus: true },
  { ...registration, ...plain, kind: 'ValidatingAdmissionPolicyBinding' },
  {
    group: 'apiregistration.k8s.io',
    kind: 'APIService',
    categories: ['api-extensions'],
    namespaced: false,
    hasStatus: true,
    columns: [...apiServiceColumns, age],
    strategy: apiServiceStrategy,
  },
  { kind: 'Secret', selectableFields: ['type'], columns: [column('Type', '.type'), age], strategy: secretStrategy },
  { kind: 'ConfigMap', shortNames: ['cm'] },
  { kind: 'ServiceAccount', shortNames: ['sa'] },
  { ...all, kind: 'Service', shortNames: ['svc'], columns: [column('Type', '.spec.type'), age] },
  { kind: 'Endpoints', plural: 'endpoints', shortNames: ['ep'] },
  {
    kind: 'Event',
    shortNames: ['ev'],
    selectableFields: ['reason', 'type', ...['kind', 'namespace', 'name', 'uid'].map((one) => `involvedObject.${one}`)],
    columns: [
      column('Last Seen', '.lastTimestamp', 'date'),
      column('Type', '.type'),
      column('Reason', '.reason'),
      column('Object', ({ involvedObject: of }) => `${textAt(of, 'kind').toLowerCase()}/${textAt(of, 'name')}`),
      column('Message', '.message'),
    ],
  },
  { ...all, kind: 'Pod', shortNames: ['po'], selectableFields: ['spec.nodeName', 'status.phase'] },
  { kind: 'PersistentVolume', shortNames: ['pv'], namespaced: false, hasStatus: true },
  { kind: 'PersistentVolumeClaim', shortNames: ['pvc'], hasStatus: true },
  { ...all, kind: 'ReplicationController', shortNames: ['rc'], hasGeneration: true },
  {
    ...apps,
    kind: 'Deployment',
    shortNames: ['deploy'],
    columns: [column('Replicas', '.spec.replicas'), column('Ready', '.status.readyReplicas'), age],
  },
  { ...apps, kind: 'ReplicaSet', shortNames: ['rs'] },
  { ...apps, kind: 'StatefulSet', shortNames: ['sts'] },
  { ...apps, kind: 'DaemonSet', shortNames: ['ds'] },
  { ...batch, kind: 'Job', strategy: jobStrategy },
  { ...batch, kind: 'CronJob', shortNames: ['cj'], columns: [column('Schedule', '.spec.schedule'), age] },
  { group: 'coordination.k8s.io', kind: 'Lease', columns: [column('Holder', '.spec.holderIdentity'), age] },
  { ...rbac, kind: 'Role' },
  { ...rbac, kind: 'RoleBinding' },
  { ...rbac, kind: 'ClusterRole', namespaced: false },
  { ...rbac, kind: 'ClusterRoleBinding', namespaced: false },
  { group: 'networking.k8s.io', kind: 'Ingress', shortNames: ['ing'], hasStatus: true, hasGeneration: true },
  { group: 'networking.k8s.io', kind: 'NetworkPolicy', shortNames: ['netpol'], hasGeneration: true },
  { group: 'policy', kind: 'PodDisruptionBudget', shortNames: ['pdb'], hasStatus: true, hasGeneration: true },
  { group: 'scheduling.k8s.io', kind: 'PriorityClass', shortNames: ['pc'], namespaced: false },
];

export const builtInModels = kinds.map(({ kind }) => (kind === 'Event' ? 'CoreV1Event' : `V1${kind}`));

function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : name.endsWith('s') ? `${name}es` : `${name}s`;
}

/** The resources that every sandbox serves, each in a single version. */
export function builtInResources(): Resource[] {
  return kinds.map(({ kind, group = '', ...rest }) => {
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
      namespaced: true,
      storage: storageNameOf(group, plural),
      storageVersion: 'v1',
      hasStatus: false,
      hasGeneration: false,
      selectableFields: [],
      isCustom: false,
      model: `io.k8s.api.v1.${kind}`,
      schema: schemaOfModel(`io.k8s.api.v1.${kind}`),
      columns: [age],
      deprecation: undefined,
      conversion: undefined,
      strategy: {},
      ...rest,
    };
  });
}
