import { isSame, type Json, type JsonObject } from '../../kubernetes/index.ts';
import type { Registry } from '../resources/registry.ts';
import type { Column, Resource } from '../resources/resource.ts';
import { type Collection, type Store, storageKey } from '../storage/store.ts';
import { age } from './columns.ts';
import { conditionsOf, isConditionTrue, withCondition } from './conditions.ts';
import { hasBadBundle } from './conversion-bundle.ts';
import { cleanupFinalizer, type Definition } from './definition.ts';
import { deleteAll } from './delete-all.ts';
import { acceptNames, NamesInUse } from './names.ts';

/** The collection of CustomResourceDefinitions. */
export const definitionStorage = 'customresourcedefinitions.apiextensions.k8s.io';

/** The condition Established of a definition that is not established yet. */
function establishment(
  object: JsonObject,
  conflict: object | undefined,
): { status: 'True' | 'False'; reason: string; message: string } {
  if (conflict !== undefined) {
    return { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  }
  return hasBadBundle(object)
    ? { status: 'False', reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' }
    : { status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
}

/** The status that the names controller gives a definition; the given status if nothing changes. */
function statusOf(object: JsonObject, others: NamesInUse, now: string): JsonObject {
  const definition = object as unknown as Definition;
  const { acceptedNames, conflict } = acceptNames(
    definition.spec.names,
    definition.status?.acceptedNames ?? {},
    others,
  );
  let conditions = conditionsOf(object);
  conditions = withCondition(
    conditions,
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict },
    now,
  );
  // Once established, it stays established: a later conflict never disables what is already served.
  if (!isConditionTrue(object, 'Established')) {
    conditions = withCondition(conditions, { type: 'Established', ...establishment(object, conflict) }, now);
  }
  return { ...(object.status as JsonObject | undefined), acceptedNames, conditions };
}

const ageColumn: Column = {
  ...age,
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.',
};

function deprecationOf(definition: Definition, version: Definition['spec']['versions'][number]): string | undefined {
  if (version.deprecated !== true) {
    return undefined;
  }
  const { group, names } = definition.spec;
  return version.deprecationWarning ?? `${group}/${version.name} ${names.kind} is deprecated`;
}

/** The resources that an established definition serves: one for each served version. */
function resourcesOf(object: JsonObject): Resource[] {
  const definition = object as unknown as Definition;
  if (!isConditionTrue(object, 'Established')) {
    return [];
  }
  const { spec } = definition;
  const names = { ...spec.names, ...definition.status?.acceptedNames };
  const storageVersion = spec.versions.find(({ storage }) => storage)?.name ?? '';
  return spec.versions
    .filter(({ served }) => served)
    .map((version) => ({
      group: spec.group,
      version: version.name,
      plural: names.plural,
      singular: names.singular ?? '',
      kind: names.kind,
      listKind: names.listKind,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      namespaced: spec.scope === 'Namespaced',
      storage: definition.metadata.name,
      storageVersion,
      hasStatus: version.subresources?.status !== undefined,
      hasGeneration: true,
      isCustom: true,
      isTerminating: isConditionTrue(object, 'Terminating'),
      schema: version.schema.openAPIV3Schema,
      columns: version.additionalPrinterColumns?.map(({ jsonPath, ...column }) => ({
        ...column,
        description: column.description ?? '',
        priority: column.priority ?? 0,
        value: jsonPath,
      })) ?? [ageColumn],
      deprecation: deprecationOf(definition, version),
      conversion: spec.conversion.strategy === 'Webhook' ? spec.conversion.webhook?.clientConfig : undefined,
      strategy: {},
    }));
}

/** The dependencies of the controller. */
interface DefinitionControllerContext {
  store: Store;
  registry: Registry;
  now(): string;
}

/**
 * The controller for CustomResourceDefinitions: accepts or rejects names, updates the registry with established
 * definitions, and finishes deletions. It runs asynchronously after every change, as a controller does: a client that
 * creates a definition sees it established a moment later.
 *
 * @returns a function that stops it.
 */
export function startDefinitionController(context: DefinitionControllerContext): () => void {
  const definitions = context.store.collection(definitionStorage);
  const pending = { scheduled: undefined as NodeJS.Immediate | undefined };
  /** The source of each served definition, so that only changed ones are rebuilt. */
  const built = new Map<string, { spec: unknown; status: unknown }>();
  const cleaning = new Map<string, () => void>();

  function schedule(): void {
    pending.scheduled ??= setImmediate(() => {
      pending.scheduled = undefined;
      reconcile(context, definitions, built, cleaning, schedule);
    });
  }
  const unsubscribe = definitions.subscribe(schedule);
  schedule();
  return () => {
    unsubscribe();
    clearImmediate(pending.scheduled);
    for (const stop of cleaning.values()) {
      stop();
    }
  };
}

/** By creation, then by name: the first definition to request a name gets it. */
function inOrder(definitions: Collection): JsonObject[] {
  return definitions
    .list()
    .map(([, object]) => object)
    .sort((a, b) => {
      const created = (object: JsonObject) => String((object.metadata as JsonObject).creationTimestamp);
      return created(a) < created(b) ? -1 : created(a) > created(b) ? 1 : 0;
    });
}

/** The names in use in each group. */
function namesInUse(definitions: readonly JsonObject[]): Map<string, NamesInUse> {
  const groups = new Map<string, NamesInUse>();
  for (const { spec, status } of definitions as unknown as readonly Definition[]) {
    const inUse = groups.get(spec.group) ?? new NamesInUse();
    groups.set(spec.group, inUse);
    inUse.add(status?.acceptedNames);
  }
  return groups;
}

function reconcile(
  context: DefinitionControllerContext,
  definitions: Collection,
  built: Map<string, { spec: unknown; status: unknown }>,
  cleaning: Map<string, () => void>,
  schedule: () => void,
): void {
  const { registry } = context;
  const all = inOrder(definitions);
  const groups = namesInUse(all);
  for (const { metadata } of all) {
    const name = (metadata as JsonObject).name as string;
    const key = storageKey('', name);
    // Read again, since an earlier iteration may have changed it.
    let object = definitions.get(key);
    if (object === undefined) {
      continue;
    }
    const isDeleted = (object.metadata as JsonObject).deletionTimestamp !== undefined;
    if (!isDeleted) {
      const { spec, status: oldStatus } = object as unknown as Definition;
      const others = groups.get(spec.group) ?? new NamesInUse();
      others.remove(oldStatus?.acceptedNames);
      const status = statusOf(object, others, context.now());
      if (!isSame(status, object.status)) {
        object = definitions.replace(key, object, { ...object, status }) ?? object;
      }
      others.add((object as unknown as Definition).status?.acceptedNames);
    }
    const last = built.get(name);
    if (last?.spec !== object.spec || last?.status !== object.status) {
      built.set(name, { spec: object.spec, status: object.status });
      const resources = resourcesOf(object);
      // Not for a change of conditions only: requests in flight would be interrupted.
      if (!isSame(resources as unknown as Json, registry.ofStorage(name) as unknown as Json)) {
        registry.set(name, resources);
      }
    }
    if (isDeleted) {
      cleanUp(context, definitions, name, cleaning, schedule);
    }
  }
  for (const name of built.keys()) {
    if (definitions.get(storageKey('', name)) === undefined) {
      built.delete(name);
      registry.set(name, []);
    }
  }
}

/** Deletes the objects of a terminating definition, then its finalizer. Waits for objects that have finalizers. */
function cleanUp(
  context: DefinitionControllerContext,
  definitions: Collection,
  name: string,
  cleaning: Map<string, () => void>,
  schedule: () => void,
): void {
  const key = storageKey('', name);
  const object = definitions.get(key);
  const metadata = object?.metadata as JsonObject | undefined;
  const finalizers = Array.isArray(metadata?.finalizers) ? metadata.finalizers : [];
  if (object === undefined || !finalizers.includes(cleanupFinalizer)) {
    return;
  }
  const instances = context.store.collection(name);
  deleteAll(instances, context.now());
  if (instances.size > 0) {
    const status = object.status as JsonObject;
    const conditions = withCondition(
      conditionsOf(object),
      {
        type: 'Terminating',
        status: 'True',
        reason: 'InstanceDeletionInProgress',
        message: 'CustomResource deletion is in progress',
      },
      context.now(),
    );
    if (!isSame(conditions, status.conditions as JsonObject[])) {
      definitions.replace(key, object, { ...object, status: { ...status, conditions } });
    }
    if (!cleaning.has(name)) {
      cleaning.set(name, instances.subscribe(schedule));
    }
    return;
  }
  cleaning.get(name)?.();
  cleaning.delete(name);
  const left = finalizers.filter((finalizer) => finalizer !== cleanupFinalizer);
  const next = { ...object, metadata: { ...metadata, finalizers: left } };
  const stored = definitions.replace(key, object, next);
  if (stored !== undefined && left.length === 0) {
    definitions.delete(key, stored);
    context.store.drop(name);
  }
}
