import { randomBytes, randomUUID } from 'node:crypto';
import {
  applyMergePatch,
  copyOf,
  isJsonObject,
  isSame,
  itemsAt,
  type Json,
  type JsonObject,
} from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';
import { isConditionTrue } from '../kinds/conditions.ts';
import { definitionStorage } from '../kinds/definition.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  failed,
  forbidden,
  invalidObject,
  notFound,
  preconditionFailed,
  unsupportedMediaType,
  versionRequired,
} from '../resources/errors.ts';
import { metadataOf, namespaceStorage, type Resource, type ResourceRequest } from '../resources/resource.ts';
import { storageKey } from '../storage/store.ts';
import { type AdmissionAttempt, type ApiContext, mutate, validate } from '../webhooks/admission.ts';
import { encode, present } from '../webhooks/conversion.ts';
import { causesOf, complete, isDryRun, mediaTypeOf, optionsOf, parseBody } from './objects.ts';
import { applyFirst, applyJsonPatch, applyStrategicMerge } from './patches.ts';

function checkNamespace(context: ApiContext, { resource, namespace }: ResourceRequest, name: string): void {
  if (!resource.namespaced) {
    return;
  }
  const stored = context.store.collection(namespaceStorage).get(storageKey('', namespace));
  if (stored === undefined) {
    throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
  }
  if (metadataOf(stored).deletionTimestamp !== undefined) {
    const message = `namespace ${namespace} is being terminated`;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    throw forbidden(resource, name, why, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
  }
}

/** Puts an object into the namespace of its request. @throws {RequestError} 400 if it names another object. */
function placeIn(object: JsonObject, { resource, namespace, name }: ResourceRequest): void {
  const metadata = metadataOf(object);
  if (!resource.namespaced) {
    delete metadata.namespace;
  } else if (metadata.namespace !== undefined && metadata.namespace !== '' && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  } else {
    metadata.namespace = namespace;
  }
  if (name !== '' && metadata.name !== name) {
    throw badRequest(
      `the name of the object (${String(metadata.name ?? '')}) does not match the name on the URL (${name})`,
    );
  }
}

/** Takes an object through admission; `settle` sets what only the server may set, after mutation. @throws {RequestError} */
async function admit(
  context: ApiContext,
  request: ResourceRequest,
  wanted: JsonObject,
  current: JsonObject | undefined,
  settle: (object: JsonObject) => JsonObject,
): Promise<JsonObject> {
  const { resource, query } = request;
  const verb = current === undefined ? 'Create' : 'Update';
  const attempt = (object: JsonObject): AdmissionAttempt => ({
    ...request,
    operation: verb === 'Create' ? 'CREATE' : 'UPDATE',
    object,
    oldObject: current,
    options: optionsOf(`${verb}Options`, query),
    dryRun: isDryRun(query),
    complete: (value) => complete(value, resource, 'Ignore', () => {}),
  });
  const mutated = (await mutate(context, attempt(wanted))) ?? wanted;
  const placed = copyOf(mutated);
  placeIn(placed, request);
  const next = settle(placed);
  resource.strategy.prepare?.(next, current);
  const metadata = metadataOf(next);
  if (resource.hasGeneration && (current === undefined || !isSame(specOf(next, resource), specOf(current, resource)))) {
    metadata.generation = Number(current === undefined ? 0 : (metadataOf(current).generation ?? 0)) + 1;
  }
  const causes = causesOf(resource, next, current);
  if (causes.length > 0) {
    throw invalidObject(resource, String(metadata.name ?? ''), causes);
  }
  resource.strategy.warn?.(next).forEach(request.warn);
  await validate(context, attempt(next));
  return next;
}

async function objectIn({ body, mediaType, resource, query, warn }: ResourceRequest): Promise<JsonObject> {
  const value = await parseBody(body, mediaTypeOf(mediaType), resource.kind);
  return complete(value, resource, query.get('fieldValidation'), warn);
}

/** Creates an object, and returns it in the request's version. @throws {RequestError} */
export async function create(context: ApiContext, request: ResourceRequest): Promise<JsonObject> {
  const { resource, query } = request;
  const definition = context.store.collection(definitionStorage).get(storageKey('', resource.storage));
  if (definition !== undefined && isConditionTrue(definition, 'Terminating')) {
    const details = { group: resource.group, kind: resource.plural };
    throw failed(
      405,
      'MethodNotAllowed',
      'create not allowed while custom resource definition is terminating',
      details,
    );
  }
  const dryRun = isDryRun(query);
  const wanted = await objectIn(request);
  placeIn(wanted, request);
  checkNamespace(context, request, String(metadataOf(wanted).name ?? ''));
  const object = await admit(context, request, wanted, undefined, (next) => {
    const metadata = metadataOf(next);
    const { generateName } = metadata;
    if (!metadata.name && typeof generateName === 'string' && generateName !== '') {
      metadata.name = `${generateName.slice(0, 58)}${randomBytes(4).toString('hex').slice(0, 5)}`;
    }
    for (const key of ['resourceVersion', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) {
      delete metadata[key];
    }
    metadata.uid = randomUUID();
    metadata.creationTimestamp = context.now();
    if (resource.hasStatus) {
      delete next.status;
    }
    return next;
  });
  const { name } = metadataOf(object) as { name: string };
  const collection = context.store.collection(resource.storage);
  const key = storageKey(request.namespace, name);
  if (collection.get(key) !== undefined) {
    throw alreadyExists(resource, name);
  }
  const stored = await encode(context, resource, object);
  if (dryRun) {
    return object;
  }
  const created = collection.write(key, undefined, stored);
  if (created === undefined) {
    throw alreadyExists(resource, name);
  }
  return present(context, resource, created);
}

/** An object with what this request may not write as it was: fields of the server, and the status, or all but the status. */
function withKept(next: JsonObject, current: JsonObject, { resource, subresource }: ResourceRequest): JsonObject {
  const [metadata, old] = [{ ...metadataOf(next) }, metadataOf(current)];
  metadata.uid ||= old.uid as Json;
  for (const key of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation']) {
    if (old[key] === undefined) {
      delete metadata[key];
    } else {
      metadata[key] = old[key] as Json;
    }
  }
  if (!resource.hasStatus) {
    return { ...next, metadata };
  }
  const isStatus = subresource === 'status';
  const { status: _, ...rest } = isStatus ? current : next;
  const { status } = isStatus ? next : current;
  const { uid, resourceVersion = null } = metadata;
  return {
    ...rest,
    metadata: isStatus ? { ...old, uid: uid as Json, resourceVersion } : metadata,
    ...(status === undefined ? {} : { status }),
  };
}

function specOf(object: JsonObject, resource: Resource): JsonObject {
  const { metadata: _, ...rest } = object;
  if (resource.hasStatus) {
    delete rest.status;
  }
  return rest;
}

/** Stores what `produce` makes of an object, in so many attempts while others keep changing it. @throws {RequestError} */
async function change(
  context: ApiContext,
  request: ResourceRequest,
  produce: (current: JsonObject) => JsonObject,
  attempts: number,
): Promise<JsonObject> {
  const { resource, name, namespace } = request;
  const dryRun = isDryRun(request.query);
  const collection = context.store.collection(resource.storage);
  const key = storageKey(namespace, name);
  for (let attempt = 1; ; attempt++) {
    const stored = collection.get(key);
    if (stored === undefined) {
      throw notFound(resource, name);
    }
    const current = await present(context, resource, stored);
    const old = metadataOf(current);
    const wanted = produce(current);
    placeIn(wanted, request);
    const next = await admit(context, request, withKept(wanted, current, request), current, (mutated) => {
      const settled = withKept(mutated, current, request);
      const metadata = metadataOf(settled);
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
      return settled;
    });
    if (isSame(next, current) || dryRun) {
      return next;
    }
    const encoded = await encode(context, resource, next);
    const replaced = collection.write(key, stored, encoded);
    if (replaced !== undefined) {
      const { deletionTimestamp, finalizers } = metadataOf(replaced);
      const isFinished = deletionTimestamp !== undefined && itemsAt(finalizers).length === 0;
      // Namespaces are removed by their controller.
      if (isFinished && resource.storage !== namespaceStorage) {
        collection.write(key, replaced, undefined);
      }
      return present(context, resource, replaced);
    }
    if (attempt >= attempts) {
      throw conflict(resource, name);
    }
  }
}

/** Replaces an object, and returns it in the request's version. @throws {RequestError} */
export async function update(context: ApiContext, request: ResourceRequest): Promise<JsonObject> {
  const object = await objectIn(request);
  return change(context, request, () => copyOf(object), 1);
}

const noServerSideApply = 'the sandbox has server-side apply in dry runs only: use kubectl apply without --server-side';

/** Server-side apply is for dry runs: nobody's fields are stored, so that each is a manager's first. @throws {RequestError} */
function checkApply(query: URLSearchParams): void {
  if (!isDryRun(query)) {
    throw failed(415, 'UnsupportedMediaType', noServerSideApply);
  }
  if (!query.get('fieldManager')) {
    const text = 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch';
    throw failed(422, 'Invalid', text);
  }
}

/** How patches change a copy of an object, by their media types. */
const appliers: Readonly<Record<string, (current: JsonObject, patch: Json, schema: Schema) => Json>> = {
  'application/json-patch+json': applyJsonPatch,
  'application/merge-patch+json': applyMergePatch,
  'application/strategic-merge-patch+json': applyStrategicMerge,
};

/** Patches an object; server-side apply creates it if there is none. @throws {RequestError} */
export async function patch(context: ApiContext, request: ResourceRequest) {
  const { resource, namespace, name, query } = request;
  const mediaType = mediaTypeOf(request.mediaType);
  const isApply = mediaType.startsWith('application/apply-patch+');
  const types = Object.keys(appliers).slice(0, resource.isCustom ? 2 : 3);
  if (isApply) {
    checkApply(query);
    if (context.store.collection(resource.storage).get(storageKey(namespace, name)) === undefined) {
      return { object: await create(context, { ...request, mediaType: 'application/json' }), isNew: true };
    }
  } else if (!types.includes(mediaType)) {
    throw unsupportedMediaType(types);
  }
  const value = await parseBody(request.body, 'application/json', resource.kind);
  const apply = appliers[mediaType] ?? applyFirst;
  let { warn } = request;
  const produce = (current: JsonObject) => {
    if (mediaType !== types[0] && !isJsonObject(value)) {
      throw badRequest('error decoding patch: a merge patch must be a JSON object');
    }
    const patched = copyOf(apply(current, value, resource.schema));
    const next = complete(patched, resource, query.get('fieldValidation'), warn);
    // Warnings are not repeated when the patch is retried.
    warn = () => {};
    return next;
  };
  return { object: await change(context, request, produce, 5), isNew: false };
}
