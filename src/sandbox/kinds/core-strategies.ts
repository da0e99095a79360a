import { fieldAt, isJsonObject, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { KindStrategy } from '../resources/resource.ts';
import { immutableCauses } from './field-causes.ts';

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

export const secretStrategy: KindStrategy = {
  prepare(object) {
    if (isJsonObject(object.stringData)) {
      const encoded = Object.entries(object.stringData).map(([key, value]) => [
        key,
        Buffer.from(String(value)).toString('base64'),
      ]);
      object.data = { ...objectAt(object, 'data'), ...Object.fromEntries(encoded) };
      delete object.stringData;
    }
  },
};

/** Jobs, which an upgrade of an installation has to replace. */
export const jobStrategy: KindStrategy = {
  validate: (object, old) => immutableCauses(object, old, ['spec.template']),
};
