import { randomBytes, randomUUID } from 'node:crypto';
import { hasRules, validateRules } from '../../kubernetes/cel/index.ts';
import {
  applyMergePatch,
  copyOf,
  failure,
  isJsonObject,
  isSame,
  itemsAt,
  type Json,
  type JsonObject,
} from '../../kubernetes/index.ts';
import { forbiddenField, invalid, validateSchema } from '../../kubernetes/schema/index.ts';
import { isConditionTrue } from '../kinds/conditions.ts';
import { definitionStorage } from '../kinds/definition.ts';
import { applyJsonPatch } from '../patches/patches.ts';
import { applyStrategicMerge } from '../patches/strategic-merge.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  forbidden,
  invalidObject,
  methodNotAllowed,
  notFound,
  preconditionFailed,
  RequestError,
  unsupportedMediaType,
  versionRequired,
} from '../resources/errors.ts';
import { metadataOf, namespaceStorage, type Resource } from '../resources/resource.ts';
import { storageKey } from '../storage/store.ts';
import { mutate, optionsOf, validate } from '../webhooks/admission.ts';
import { removeWhenFinished } from './deletion.ts';
import { metadataCauses } from './metadata.ts';
import { complete, mediaTypeOf, parseBody, readObject } from './objects.ts';
import { scaleOf, scaleResourceOf, withScale } from './scale.ts';
import { attemptOf, checkUnchanged, isDryRun, type WriteContext, type WriteRequest } from './write-request.ts';

/** Number of attempts to apply a patch while other clients keep changing the object. */
const maxAttempts = 5;

/** Problems of the object of a definition after which its rules are not evaluated (apiextensions-apiserver, hasBlockingErr). */
const blocking = new Set<string>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const unchecked = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

function causesOf({ schema, strategy, isCustom }: Resource, object: JsonObject, old: JsonObject | undefined) {
  const causes = [
    ...metadataCauses(metadataOf(object), strategy.nameFormat ?? 'subdomain'),
    ...validateSchema(object, schema),
  ];
  if (!isCustom) {
    // Duplicates in lists of Kubernetes' own kinds are found by their strategies.
    const others = causes.filter(({ reason }) => reason !== 'FieldValueDuplicate');
    return [...others, ...(strategy.validate?.(object, old) ?? [])];
  }
  return causes.some(({ reason }) => blocking.has(reason))
    ? [...causes, ...(hasRules(schema) ? [unchecked] : [])]
    : [...causes, ...validateRules(object, old, schema)];
}

function checkNamespace(context: WriteContext, { resource, namespace }: WriteRequest, name: string): void {
  if (!resource.namespaced) {
    return;
  }
  const found = context.store.collection(namespaceStorage).get(storageKey('', namespace));
  if (found === undefined) {
    throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
  }
  if (metadataOf(found).deletionTimestamp !== undefined) {
    throw forbidden(
      resource,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
  }
}

function placeIn(object: JsonObject, { resource, namespace }: WriteRequest): void {
  const metadata = metadataOf(object);
  if (!resource.namespaced) {
    delete metadata.namespace;
  } else if (metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  } else {
    metadata.namespace = namespace;
  }
}

/** Creates an object. @returns it in the request's version. @throws {RequestError} */
export async function create(context: WriteContext, request: WriteRequest): Promise<JsonObject> {
  const { resource, query, warn } = request;
  const definition = context.store.collection(definitionStorage).get(storageKey('', resource.storage));
  if (definition !== undefined && isConditionTrue(definition, 'Terminating')) {
    throw methodNotAllowed('create not allowed while custom resource definition is terminating', {
      group: resource.group,
      kind: resource.plural,
    });
  }
  const dryRun = isDryRun(query);
  const mediaType = mediaTypeOf(request.mediaType);
  let object = await readObject(request.body, mediaType, resource, query.get('fieldValidation'), warn);
  if (resource.strategy.answer !== undefined) {
    return resource.strategy.answer(object, request.user);
  }
  placeIn(object, request);
  const given = String(metadataOf(object).name ?? '');
  checkNamespace(context, request, given);
  const fields = {
    operation: 'CREATE',
    oldObject: undefined,
    options: optionsOf('CreateOptions', query),
    dryRun,
  } as const;
  object = (await mutate(context, attemptOf(request, { ...fields, object, name: given }))) ?? object;
  object = copyOf(object);
  const metadata = metadataOf(object);
  const { generateName } = metadata;
  if (!metadata.name && typeof generateName === 'string' && generateName !== '') {
    metadata.name = `${generateName.slice(0, 58)}${randomBytes(4).toString('hex').slice(0, 5)}`;
  }
  const name = String(metadata.name ?? '');
  for (const key of ['resourceVersion', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) {
    delete metadata[key];
  }
  metadata.uid = randomUUID();
  metadata.creationTimestamp = context.now();
  if (resource.hasGeneration) {
    metadata.generation = 1;
  }
  if (resource.hasStatus) {
    delete object.status;
  }
  resource.strategy.prepare?.(object, undefined);
  resource.strategy.observe?.(object, context.now());
  const causes = causesOf(resource, object, undefined);
  if (causes.length > 0) {
    throw invalidObject(resource, name, causes);
  }
  resource.strategy.warn?.(object).forEach(warn);
  await validate(context, attemptOf(request, { ...fields, object, name }));
  const collection = context.store.collection(resource.storage);
  const key = storageKey(resource.namespaced ? request.namespace : '', name);
  if (collection.get(key) !== undefined) {
    throw alreadyExists(resource, name);
  }
  const stored = await context.converter.encode(resource, object);
  if (dryRun) {
    return object;
  }
  checkUnchanged(context, resource);
  const created = collection.create(key, stored);
  if (created === undefined) {
    throw alreadyExists(resource, name);
  }
  return context.converter.present(resource, created);
}

/** Computes the next state of an object from the current one, both in the request's version. */
type Produce = (current: JsonObject) => JsonObject;

function keepServerFields(next: JsonObject, current: JsonObject): void {
  const metadata = metadataOf(next);
  const old = metadataOf(current);
  for (const key of ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation']) {
    if (key === 'uid' && typeof metadata.uid === 'string' && metadata.uid !== '') {
      continue;
    }
    if (old[key] === undefined) {
      delete metadata[key];
    } else {
      metadata[key] = old[key] as Json;
    }
  }
}

/** Preserves what this request may not write: the status, or everything but the status. */
function separate(next: JsonObject, current: JsonObject, { resource, subresource }: WriteRequest): JsonObject {
  if (!resource.hasStatus) {
    return next;
  }
  const isStatus = subresource === 'status';
  const { status: _, ...rest } = isStatus ? current : next;
  const { status } = isStatus ? next : current;
  const { resourceVersion = null } = metadataOf(next);
  const metadata = isStatus ? { ...metadataOf(current), resourceVersion } : metadataOf(next);
  return { ...rest, metadata, ...(status === undefined ? {} : { status }) };
}

function specOf(object: JsonObject, resource: Resource): JsonObject {
  const { metadata: _, ...rest } = object;
  if (resource.hasStatus) {
    delete rest.status;
  }
  return rest;
}

function addedFinalizer(next: JsonObject, current: JsonObject): Json | undefined {
  const known = new Set(itemsAt(current, 'metadata', 'finalizers'));
  return itemsAt(next, 'metadata', 'finalizers').find((finalizer) => !known.has(finalizer));
}

async function change(
  context: WriteContext,
  request: WriteRequest,
  produce: Produce,
  retry: boolean,
): Promise<JsonObject> {
  const { resource, name, namespace, query, warn } = request;
  const dryRun = isDryRun(query);
  const collection = context.store.collection(resource.storage);
  const key = storageKey(resource.namespaced ? namespace : '', name);
  for (let attempt = 1; ; attempt++) {
    const stored = collection.get(key);
    if (stored === undefined) {
      throw notFound(resource, name);
    }
    const current = await context.converter.present(resource, stored);
    let next = produce(current);
    placeIn(next, request);
    if (metadataOf(next).name !== name) {
      throw badRequest(
        `the name of the object (${String(metadataOf(next).name ?? '')}) does not match the name on the URL (${name})`,
      );
    }
    keepServerFields(next, current);
    const fields = {
      operation: 'UPDATE',
      oldObject: current,
      options: optionsOf('UpdateOptions', query),
      dryRun,
      name,
    } as const;
    next = separate(next, current, request);
    // Webhooks would have to receive a Scale, so the sandbox does not call them for it.
    const asksWebhooks = request.subresource !== 'scale';
    const mutated = asksWebhooks ? await mutate(context, attemptOf(request, { ...fields, object: next })) : undefined;
    next = copyOf(mutated ?? next);
    next = separate(next, current, request);
    const metadata = metadataOf(next);
    const old = metadataOf(current);
    if (metadata.uid !== old.uid) {
      throw preconditionFailed(resource, name, 'UID', metadata.uid, old.uid);
    }
    if (!metadata.resourceVersion) {
      if (resource.isCustom) {
        throw versionRequired(resource, name);
      }
      metadata.resourceVersion = old.resourceVersion as Json;
    } else if (metadata.resourceVersion !== old.resourceVersion) {
      throw conflict(resource, name);
    }
    resource.strategy.prepare?.(next, current);
    if (resource.hasGeneration && !isSame(specOf(next, resource), specOf(current, resource))) {
      metadata.generation = Number(old.generation ?? 0) + 1;
      resource.strategy.observe?.(next, context.now());
    }
    const causes = causesOf(resource, next, current);
    const added = old.deletionTimestamp === undefined ? undefined : addedFinalizer(next, current);
    if (added !== undefined) {
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${JSON.stringify(added)}}`;
      causes.push(forbiddenField('metadata.finalizers', why));
    }
    if (causes.length > 0) {
      throw invalidObject(resource, name, causes);
    }
    resource.strategy.warn?.(next).forEach(warn);
    if (asksWebhooks) {
      await validate(context, attemptOf(request, { ...fields, object: next }));
    }
    if (isSame(next, current) || dryRun) {
      return next;
    }
    const encoded = await context.converter.encode(resource, next);
    checkUnchanged(context, resource);
    const replaced = collection.replace(key, stored, encoded);
    if (replaced !== undefined) {
      removeWhenFinished(context, request, key, replaced);
      return context.converter.present(resource, replaced);
    }
    if (!retry || attempt >= maxAttempts) {
      throw conflict(resource, name);
    }
  }
}

/** Changes an object, directly or through its Scale. */
async function changeThrough(
  context: WriteContext,
  request: WriteRequest,
  produce: Produce,
  retry: boolean,
): Promise<JsonObject> {
  if (request.subresource !== 'scale') {
    return change(context, request, produce, retry);
  }
  const scaled: Produce = (current) => withScale(request.resource, current, produce(scaleOf(current)));
  return scaleOf(await change(context, request, scaled, retry));
}

/** The resource of the bodies of a request. */
function bodyResourceOf({ resource, subresource }: WriteRequest): Resource {
  return subresource === 'scale' ? scaleResourceOf(resource) : resource;
}

/** Replaces an object or a subresource of it. @throws {RequestError} */
export async function update(context: WriteContext, request: WriteRequest): Promise<JsonObject> {
  const { query, warn, body } = request;
  const mediaType = mediaTypeOf(request.mediaType);
  const object = await readObject(body, mediaType, bodyResourceOf(request), query.get('fieldValidation'), warn);
  return changeThrough(context, request, () => copyOf(object), false);
}

const noServerSideApply = 'the sandbox has no server-side apply: use kubectl apply without --server-side';

/** Patches an object or a subresource of it. @throws {RequestError} */
export async function patch(context: WriteContext, request: WriteRequest): Promise<JsonObject> {
  const resource = bodyResourceOf(request);
  const mediaType = mediaTypeOf(request.mediaType);
  const types = ['application/json-patch+json', 'application/merge-patch+json'];
  if (!resource.isCustom) {
    types.push('application/strategic-merge-patch+json');
  }
  if (!types.includes(mediaType)) {
    throw mediaType.startsWith('application/apply-patch+')
      ? new RequestError(failure(415, 'UnsupportedMediaType', noServerSideApply))
      : unsupportedMediaType(types);
  }
  const value = await parseBody(request.body, 'application/json', resource.kind);
  let { warn } = request;
  function patched(current: JsonObject): Json {
    if (mediaType === 'application/json-patch+json') {
      return applyJsonPatch(current, value);
    }
    if (!isJsonObject(value)) {
      throw badRequest('error decoding patch: a merge patch must be a JSON object');
    }
    return mediaType === 'application/merge-patch+json'
      ? applyMergePatch(current, value)
      : applyStrategicMerge(copyOf(current), value, resource.schema);
  }
  const produce: Produce = (current) => {
    const next = complete(copyOf(patched(current)), resource, request.query.get('fieldValidation'), warn);
    // Warnings are not repeated when the patch is retried.
    warn = () => {};
    return next;
  };
  return changeThrough(context, request, produce, true);
}
