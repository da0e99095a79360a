import {
  dns1123SubdomainProblems,
  fieldAt,
  isJsonObject,
  isSame,
  type JsonObject,
  objectAt,
  objectsAt,
  own,
  type StatusCause,
} from '../../kubernetes/index.ts';
import { causeOf, forbiddenField, invalid, required } from '../../kubernetes/schema/index.ts';
import type { KindStrategy } from '../resources/resource.ts';
import { duplicateCauses, immutableCauses } from './field-causes.ts';

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

/** Maximum number of bytes of the data of a Secret or a ConfigMap (kubernetes, MaxSecretSize). */
const maxDataBytes = 1024 * 1024;
const keyFormat = /^[-._a-zA-Z0-9]{1,253}$/;

/** The problems of the data of Secrets and ConfigMaps (kubernetes, core validation of both). */
function* dataCauses(
  object: JsonObject,
  old: JsonObject | undefined,
  fields: readonly string[],
): Generator<StatusCause> {
  const entries = fields.flatMap((field) =>
    Object.entries(objectAt(object, field)).map(([key, value]) => ({ field, key, value: String(value) })),
  );
  for (const { field, key } of entries) {
    if (!keyFormat.test(key) || key === '.' || key === '..') {
      const why = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
      yield invalid(`${field}[${key}]`, key, why);
    }
  }
  for (const { field, key } of entries) {
    const other = fields.find((one) => one !== field && own(objectAt(object, one), key) !== undefined);
    if (other !== undefined) {
      yield invalid(`${field}[${key}]`, key, `duplicate of key present in ${other}`);
    }
  }
  if (entries.reduce((sum, { value }) => sum + value.length, 0) > maxDataBytes) {
    yield causeOf('FieldValueTooLong', fields[0] ?? '', undefined, `may not be more than ${maxDataBytes} bytes`);
  }
  if (old?.immutable === true) {
    const why = 'field is immutable when `immutable` is set';
    const changed = fields.filter((field) => !isSame(object[field] ?? {}, old[field] ?? {}));
    yield* [...(object.immutable === true ? [] : ['immutable']), ...changed].map((field) => forbiddenField(field, why));
  }
}

export const configMapStrategy: KindStrategy = {
  validate: (object, old) => dataCauses(object, old, ['data', 'binaryData']),
};

export const secretStrategy: KindStrategy = {
  validate: (object, old) => [
    ...immutableCauses(object, old, ['type']),
    ...dataCauses(object, old, ['data']),
    ...(object.type === 'kubernetes.io/tls' ? ['tls.crt', 'tls.key'] : [])
      .filter((key) => objectAt(object, 'data')[key] === undefined)
      .map((key) => required(`data[${key}]`)),
  ],
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

/** Pods, which wait forever to be scheduled. */
export const podStrategy: KindStrategy = {
  prepare(object, old) {
    if (old === undefined) {
      object.status = { phase: 'Pending' };
    }
  },
};

/** Services (kubernetes, core validation, ValidateService). */
export const serviceStrategy: KindStrategy = {
  nameFormat: 'label1035',
  prepare({ spec }) {
    for (const port of objectsAt(spec, 'ports')) {
      port.targetPort ??= port.port ?? null;
    }
  },
  *validate(object, old) {
    const { type, externalName, clusterIP } = objectAt(object, 'spec');
    const ports = objectsAt(object, 'spec', 'ports');
    if (ports.length === 0 && type !== 'ExternalName' && clusterIP !== 'None') {
      yield required('spec.ports');
    }
    for (const [index, { name }] of ports.entries()) {
      if (name === undefined && ports.length > 1) {
        yield required(`spec.ports[${index}].name`);
      }
    }
    const served = ports.map(({ port, protocol }) => ({ port: `${String(port)}/${String(protocol)}` }));
    yield* duplicateCauses(ports, 'name', 'spec.ports');
    yield* duplicateCauses(served, 'port', 'spec.ports');
    if (type === 'ExternalName') {
      for (const problem of externalName === undefined
        ? ['is required']
        : dns1123SubdomainProblems(String(externalName))) {
        yield invalid('spec.externalName', externalName ?? '', problem);
      }
    } else if (fieldAt(old, 'spec', 'clusterIP')) {
      yield* immutableCauses(object, old, ['spec.clusterIP'], 'may not change once set');
    }
  },
};
