import type {
  V1CustomResourceDefinitionNames,
  V1CustomResourceDefinitionSpec,
  V1CustomResourceDefinitionVersion,
} from '@kubernetes/client-node';
import { readableCertificates } from '../../base/x509/index.ts';
import { checkRules } from '../../kubernetes/cel/index.ts';
import {
  dns1035LabelProblems,
  dns1123SubdomainProblems,
  fieldAt,
  isJsonObject,
  itemsAt,
  type JsonObject,
  objectAt,
  objectsAt,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { invalid, required, type Schema, structuralCauses } from '../../kubernetes/schema/index.ts';
import type { KindStrategy } from '../resources/resource.ts';
import { condition, conditionsOf, isConditionTrue, withCondition } from './conditions.ts';

export const definitionStorage = 'customresourcedefinitions.apiextensions.k8s.io';

export type DefinitionNames = V1CustomResourceDefinitionNames & { singular: string; listKind: string };

export interface Definition {
  metadata: { name: string };
  spec: Omit<V1CustomResourceDefinitionSpec, 'versions'> & {
    names: DefinitionNames;
    versions: (Omit<V1CustomResourceDefinitionVersion, 'schema'> & { schema: { openAPIV3Schema: Schema } })[];
  };
  status?: { acceptedNames?: Partial<DefinitionNames> };
}

/** Finalizer that makes a deleted definition wait until its objects are removed. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

function bundleOf(object: JsonObject): string {
  return textAt(object, 'spec', 'conversion', 'webhook', 'clientConfig', 'caBundle');
}

/** Whether a definition has a caBundle in which an API server finds no certificate. */
export function hasBadBundle(object: JsonObject): boolean {
  const bundle = bundleOf(object);
  return bundle !== '' && readableCertificates(Buffer.from(bundle, 'base64').toString('latin1')).next().done === true;
}

/** Since Kubernetes 1.31 a bad caBundle keeps a definition from being established, and an established one may not get it. */
function bundleCauses(object: JsonObject, old: JsonObject | undefined): StatusCause[] {
  const mayBeBad = old === undefined || !isConditionTrue(old, 'Established') || hasBadBundle(old);
  const why = 'unable to load root certificates: unable to parse bytes as PEM block';
  return !mayBeBad && hasBadBundle(object)
    ? [invalid('spec.conversion.webhookClientConfig.caBundle', bundleOf(object), why)]
    : [];
}

function prepare(object: JsonObject, old: JsonObject | undefined): void {
  const spec = object.spec;
  if (!isJsonObject(spec)) {
    return;
  }
  // Without names, those that are required are missing.
  spec.names ??= {};
  const { names } = spec;
  if (isJsonObject(names) && typeof names.kind === 'string') {
    names.singular ||= names.kind.toLowerCase();
    names.listKind ||= `${names.kind}List`;
  }
  spec.conversion ??= { strategy: 'None' };
  const versions = objectsAt(spec, 'versions');
  const storageVersion = versions.find(({ storage }) => storage === true)?.name;
  const status = objectAt(object, 'status');
  const stored = itemsAt(status, 'storedVersions');
  if (typeof storageVersion === 'string') {
    object.status = {
      ...(old === undefined ? { conditions: [], acceptedNames: { plural: '', kind: '' } } : {}),
      ...status,
      storedVersions: stored.includes(storageVersion) ? stored : [...stored, storageVersion],
    };
  }
}

function* nameCauses(spec: JsonObject): Generator<StatusCause> {
  const names = objectAt(spec, 'names');
  const { plural, singular, kind, listKind } = names;
  const shortNames = itemsAt(names, 'shortNames').map((name, index) => [`shortNames[${index}]`, name] as const);
  for (const [field, value] of [...Object.entries({ plural, singular, kind, listKind }), ...shortNames]) {
    if (typeof value === 'string') {
      const name = /kind/i.test(field) ? value.toLowerCase() : value;
      yield* dns1035LabelProblems(name).map((problem) => invalid(`spec.names.${field}`, name, problem));
    }
  }
  if (names.kind !== undefined && names.kind === names.listKind) {
    yield invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same');
  }
}

function* versionCauses(spec: JsonObject): Generator<StatusCause> {
  const versions = objectsAt(spec, 'versions');
  const seen = new Set<unknown>();
  for (const [index, version] of versions.entries()) {
    const field = `spec.versions[${index}]`;
    const { name } = version;
    if (typeof name !== 'string' || dns1035LabelProblems(name).length > 0) {
      yield invalid(`${field}.name`, name, 'a version is an RFC 1035 label, such as v1 or v1beta1');
    }
    if (seen.has(name)) {
      yield invalid(`${field}.name`, name, 'must not be a version that the definition already has');
    }
    seen.add(name);
    const schema = isJsonObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
    const path = `${field}.schema.openAPIV3Schema`;
    if (!isJsonObject(schema)) {
      yield required(path, 'schemas are required');
    } else if (schema.type !== undefined && schema.type !== 'object') {
      yield invalid(`${path}.type`, schema.type, 'must be object at the root');
    } else {
      yield* structuralCauses(schema, path);
      yield* checkRules(schema, path).causes;
    }
  }
  const stored = versions.filter(({ storage }) => storage === true).length;
  if (stored !== 1) {
    const names = versions.map(({ name }) => name ?? null);
    yield invalid('spec.versions', names, 'must have exactly one version marked as storage version');
  }
}

function* validate(object: JsonObject, old: JsonObject | undefined): Generator<StatusCause> {
  const spec = objectAt(object, 'spec');
  const { group } = spec;
  if (typeof group === 'string') {
    yield* dns1123SubdomainProblems(group).map((problem) => invalid('spec.group', group, problem));
    if (!group.includes('.')) {
      yield invalid('spec.group', group, 'should be a domain with at least one dot');
    }
  }
  if (spec.preserveUnknownFields === true && fieldAt(old, 'spec', 'preserveUnknownFields') !== true) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    yield invalid('spec.preserveUnknownFields', true, why);
  }
  yield* nameCauses(spec);
  yield* versionCauses(spec);
  const { plural } = objectAt(spec, 'names');
  const { name } = object.metadata as JsonObject;
  if (typeof plural === 'string' && typeof group === 'string' && name !== `${plural}.${group}`) {
    yield invalid('metadata.name', name, `must be spec.names.plural+"."+spec.group (${plural}.${group})`);
  }
  const conversion = objectAt(spec, 'conversion');
  if (conversion.strategy === 'Webhook') {
    const { url, service } = objectAt(conversion, 'webhook', 'clientConfig');
    if ((url === undefined) === (service === undefined)) {
      yield required('spec.conversion.webhook.clientConfig', 'exactly one of url or service is required');
    }
    yield* bundleCauses(object, old);
  }
  if (old !== undefined) {
    const present = new Set(objectsAt(spec, 'versions').map((version) => version.name));
    for (const [index, version] of itemsAt(object, 'status', 'storedVersions').entries()) {
      if (!present.has(version)) {
        yield invalid(`status.storedVersions[${index}]`, version, 'must appear in spec.versions');
      }
    }
  }
  for (const field of ['group', 'scope']) {
    if (old !== undefined && spec[field] !== objectAt(old, 'spec')[field]) {
      yield invalid(`spec.${field}`, spec[field], 'field is immutable');
    }
  }
}

export const definitionStrategy: KindStrategy = {
  prepare,
  validate,
  warn: (object) =>
    objectsAt(object, 'spec', 'versions').flatMap(({ schema }, index) => {
      const path = `spec.versions[${index}].schema.openAPIV3Schema`;
      return checkRules(objectAt(schema, 'openAPIV3Schema'), path).unknown;
    }),
  markForDeletion(object, now) {
    const metadata = object.metadata as JsonObject;
    const finalizers = itemsAt(metadata, 'finalizers');
    metadata.finalizers = finalizers.includes(cleanupFinalizer) ? finalizers : [...finalizers, cleanupFinalizer];
    const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
    const terminating = condition('Terminating', 'True', 'InstanceDeletionPending', message);
    const conditions = withCondition(conditionsOf(object), terminating, now);
    object.status = { ...objectAt(object, 'status'), conditions };
  },
};
