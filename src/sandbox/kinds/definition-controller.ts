import { isSame, itemsAt, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { age, type Column, metadataOf, type Resource } from '../resources/resource.ts';
import { soon, storageKey } from '../storage/store.ts';
import type { ApiContext } from '../webhooks/admission.ts';
import { type Condition, condition, conditionsOf, isConditionTrue, withCondition } from './conditions.ts';
import {
  cleanupFinalizer,
  type Definition,
  type DefinitionNames,
  definitionStorage,
  hasBadBundle,
} from './definition.ts';

type Names = Partial<DefinitionNames>;

/** Plural, singular and short names share one set of names in a group, kinds and list kinds the other. */
const sets = { plural: 'resource', singular: 'resource', shortNames: 'resource', kind: 'kind', listKind: 'kind' };
type NameField = keyof typeof sets;
const fields = Object.keys(sets) as NameField[];

const namesIn = (names: Names, field: NameField): string[] => [names[field] ?? []].flat();
const nameKey = (group: string, field: NameField, name: string) => `${group} ${sets[field]} ${name}`;

type NameUsers = Map<string, string>;

function noteNames(users: NameUsers, { metadata, spec: { group } }: Definition, names: Names = {}): void {
  for (const field of fields) {
    for (const name of namesIn(names, field)) {
      users.set(nameKey(group, field, name), metadata.name);
    }
  }
}

/** The names that a definition gets, its former ones where another has taken one, and the last conflict, as by the real server. */
function acceptNames({ metadata, spec: { group, names }, status }: Definition, users: NameUsers) {
  const before = status?.acceptedNames ?? {};
  let conflict: { reason: string; message: string } | undefined;
  const { categories } = names;
  const acceptedNames: JsonObject = { ...(categories === undefined ? {} : { categories }), plural: '', kind: '' };
  for (const field of fields) {
    const known = new Set(namesIn(before, field));
    const isTaken = (name: string) => (users.get(nameKey(group, field, name)) ?? metadata.name) !== metadata.name;
    const duplicates = namesIn(names, field).filter((name) => !known.has(name) && isTaken(name));
    if (duplicates.length > 0) {
      const message = duplicates.map((name) => `${JSON.stringify(name)} is already in use`).join(', ');
      const reason = `${field.slice(0, 1).toUpperCase()}${field.slice(1)}Conflict`;
      conflict = { reason, message: duplicates.length > 1 ? `[${message}]` : message };
    }
    const accepted = (duplicates.length > 0 ? before : names)[field];
    if (accepted !== undefined && accepted !== '') {
      acceptedNames[field] = accepted;
    }
  }
  return { acceptedNames, conflict };
}

function establishment(object: JsonObject, conflict: object | undefined): Condition {
  if (conflict !== undefined) {
    return condition('Established', 'False', 'NotAccepted', 'not all names are accepted');
  }
  return hasBadBundle(object)
    ? condition('Established', 'False', 'InvalidCABundle', 'The conversion webhook CABundle is invalid')
    : condition('Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted');
}

function statusOf(object: JsonObject & Definition, users: NameUsers, now: string): JsonObject {
  const { acceptedNames, conflict } = acceptNames(object, users);
  const { reason, message } = conflict ?? { reason: 'NoConflicts', message: 'no conflicts found' };
  const accepted = condition('NamesAccepted', conflict === undefined ? 'True' : 'False', reason, message);
  const conditions = withCondition(conditionsOf(object), accepted, now);
  // Once established, it stays established: a later conflict never disables what is already served.
  const established = isConditionTrue(object, 'Established')
    ? conditions
    : withCondition(conditions, establishment(object, conflict), now);
  return { ...objectAt(object, 'status'), acceptedNames, conditions: established };
}

const ageColumn = {
  ...age,
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.',
};

/** The resources that an established definition serves: one for each served version. */
function resourcesOf(object: JsonObject): Resource[] {
  if (!isConditionTrue(object, 'Established')) {
    return [];
  }
  const { metadata, spec, status } = object as unknown as Definition;
  const { group } = spec;
  const names = { ...spec.names, ...status?.acceptedNames };
  return spec.versions
    .filter(({ served }) => served)
    .map((version) => ({
      group,
      version: version.name,
      plural: names.plural,
      singular: names.singular ?? '',
      kind: names.kind,
      listKind: names.listKind,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      namespaced: spec.scope === 'Namespaced',
      storage: metadata.name,
      storageVersion: spec.versions.find(({ storage }) => storage)?.name ?? '',
      hasStatus: version.subresources?.status !== undefined,
      selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.slice(1)),
      hasGeneration: true,
      isCustom: true,
      schema: version.schema.openAPIV3Schema,
      columns: version.additionalPrinterColumns?.map(
        ({ jsonPath: value, ...column }): Column => ({ description: '', priority: 0, ...column, value }),
      ) ?? [ageColumn],
      deprecation:
        version.deprecated === true
          ? (version.deprecationWarning ?? `${group}/${version.name} ${spec.names.kind} is deprecated`)
          : undefined,
      conversion: spec.conversion?.strategy === 'Webhook' ? spec.conversion.webhook?.clientConfig : undefined,
      strategy: {},
    }));
}

/** The controller for CustomResourceDefinitions: accepts names, serves what is established, and finishes deletions. */
export function startDefinitionController({ store, registry, now }: ApiContext, signal: AbortSignal): void {
  const definitions = store.collection(definitionStorage);
  /** Each definition as it was last looked at: to compare all schemas after each change would take long. */
  const built = new Map<string, JsonObject>();

  function serve(name: string, object: JsonObject): void {
    const last = built.get(name);
    if (last?.spec === object.spec && last?.status === object.status) {
      return;
    }
    built.set(name, object);
    const resources = resourcesOf(object);
    // Not for a change of conditions only: requests in flight would be interrupted.
    if (!isSame(resources as unknown as Json, registry.ofStorage(name) as unknown as Json)) {
      registry.set(name, resources);
    }
  }

  /** Deletes the objects of a terminating definition, then its finalizer. Waits for objects that have finalizers. */
  function cleanUp(name: string, object: JsonObject): void {
    const key = storageKey('', name);
    const metadata = metadataOf(object);
    const finalizers = itemsAt(metadata, 'finalizers');
    if (!finalizers.includes(cleanupFinalizer)) {
      return;
    }
    const instances = store.collection(name);
    if (instances.deleteAll(now()) > 0) {
      const message = 'CustomResource deletion is in progress';
      const terminating = condition('Terminating', 'True', 'InstanceDeletionInProgress', message);
      const conditions = withCondition(conditionsOf(object), terminating, now());
      if (!isSame(conditions, conditionsOf(object))) {
        definitions.write(key, object, { ...object, status: { ...objectAt(object, 'status'), conditions } });
      }
      // A listener that is there already is not added again.
      instances.subscribe(schedule);
      return;
    }
    const left = finalizers.filter((finalizer) => finalizer !== cleanupFinalizer);
    const stored = definitions.write(key, object, { ...object, metadata: { ...metadata, finalizers: left } });
    if (stored !== undefined && left.length === 0) {
      definitions.write(key, stored, undefined);
      store.drop(name);
    }
  }

  function reconcile(): void {
    // By creation, then by name: the first definition to request a name gets it.
    const createdAt = (object: JsonObject) => Date.parse(String(metadataOf(object).creationTimestamp));
    const all = definitions
      .list()
      .map(([, object]) => object as JsonObject & Definition)
      .sort((a, b) => createdAt(a) - createdAt(b));
    const users: NameUsers = new Map();
    for (const definition of all) {
      noteNames(users, definition, definition.status?.acceptedNames);
    }
    for (const definition of all) {
      const { name } = definition.metadata;
      if (metadataOf(definition).deletionTimestamp !== undefined) {
        serve(name, definition);
        cleanUp(name, definition);
        continue;
      }
      const status = statusOf(definition, users, now());
      if (isSame(status, (definition as JsonObject).status)) {
        serve(name, definition);
      } else {
        const next = { ...(definition as JsonObject), status };
        serve(name, definitions.write(storageKey('', name), definition, next) ?? definition);
        // Names that it gives up are free with the next run, for which this change is the reason.
        noteNames(users, definition, status.acceptedNames as Names);
      }
    }
    for (const name of built.keys()) {
      if (definitions.get(storageKey('', name)) === undefined) {
        built.delete(name);
        registry.set(name, []);
      }
    }
  }

  const schedule = soon(reconcile, signal);
  definitions.subscribe(schedule);
}
