import { fieldAt, isJsonObject, isSame, type JsonObject, objectAt, type StatusCause } from '../../kubernetes/index.ts';
import { forbiddenField, invalid } from '../../kubernetes/schema/index.ts';
import type { KindStrategy } from '../resources/resource.ts';

/** Namespaces that cannot be deleted (apiserver, admission plugin NamespaceLifecycle). */
const immortal = ['default', 'kube-public', 'kube-system'];

export const namespaceStrategy: KindStrategy = {
  nameFormat: 'label',
  deletionProblem: (name) => (immortal.includes(name) ? 'this namespace may not be deleted' : undefined),
  prepare(object, old) {
    const metadata = object.metadata as JsonObject;
    const labels = objectAt(metadata, 'labels');
    metadata.labels = { ...labels, 'kubernetes.io/metadata.name': metadata.name ?? '' };
    const spec = objectAt(object, 'spec');
    object.spec = {
      ...spec,
      finalizers: (old === undefined ? undefined : fieldAt(old, 'spec', 'finalizers')) ?? ['kubernetes'],
    };
    const status = objectAt(object, 'status');
    object.status = { ...status, phase: metadata.deletionTimestamp === undefined ? 'Active' : 'Terminating' };
  },
  markForDeletion(object) {
    object.status = { ...objectAt(object, 'status'), phase: 'Terminating' };
  },
};

/**
 * The fields that must not change in an object with `immutable: true` (apimachinery, core validation of Secret and
 * ConfigMap).
 */
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

export const configMapStrategy: KindStrategy = {
  validate: (object, old) => immutableCauses(object, old, ['data', 'binaryData']),
};

export const secretStrategy: KindStrategy = {
  validate: (object, old) => [
    ...(old !== undefined && object.type !== old.type
      ? [invalid('type', object.type ?? null, 'field is immutable')]
      : []),
    ...immutableCauses(object, old, ['data']),
  ],
  prepare(object) {
    object.type ??= 'Opaque';
    if (isJsonObject(object.stringData)) {
      const data = objectAt(object, 'data');
      const encoded = Object.entries(object.stringData).map(([key, value]) => [
        key,
        Buffer.from(String(value)).toString('base64'),
      ]);
      object.data = { ...data, ...Object.fromEntries(encoded) };
      delete object.stringData;
    }
  },
};

export const serviceStrategy: KindStrategy = {
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
