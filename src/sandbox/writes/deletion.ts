import { copyOf, isJsonObject, itemsAt, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { badRequest, forbidden, notFound, preconditionFailed } from '../resources/errors.ts';
import { metadataOf, type ResourceRequest } from '../resources/resource.ts';
import { storageKey } from '../storage/store.ts';
import { type AdmissionAttempt, type ApiContext, mutate, validate } from '../webhooks/admission.ts';
import { present } from '../webhooks/conversion.ts';
import { isDryRun, mediaTypeOf, parseBody } from './objects.ts';

/** Deletes an object; while it has finalizers, it is only marked, and returned. @throws {RequestError} */
export async function remove(
  context: ApiContext,
  request: ResourceRequest,
): Promise<{ object: JsonObject } | { uid: string }> {
  const { resource, name, namespace, query } = request;
  const problem = resource.strategy.deletionProblem?.(name);
  if (problem !== undefined) {
    throw forbidden(resource, name, problem);
  }
  const isEmpty = request.body.length === 0;
  const body = isEmpty ? {} : await parseBody(request.body, mediaTypeOf(request.mediaType), 'DeleteOptions');
  if (!isJsonObject(body)) {
    throw badRequest('the object provided is unrecognized (must be of type DeleteOptions): it is not a JSON object');
  }
  const { kind = 'DeleteOptions' } = body;
  if (kind !== 'DeleteOptions') {
    throw badRequest(`the object provided is a ${String(kind)}; a deletion takes DeleteOptions`);
  }
  const preconditions = objectAt(body, 'preconditions');
  const dryRun = isDryRun(query, body);
  const collection = context.store.collection(resource.storage);
  const key = storageKey(namespace, name);
  for (;;) {
    const stored = collection.get(key);
    if (stored === undefined) {
      throw notFound(resource, name);
    }
    const current = await present(context, resource, stored);
    const metadata = metadataOf(current);
    for (const [field, label] of Object.entries({ uid: 'UID', resourceVersion: 'ResourceVersion' })) {
      const wanted = preconditions[field] ?? metadata[field];
      if (wanted !== metadata[field]) {
        throw preconditionFailed(resource, name, label, wanted, metadata[field]);
      }
    }
    const options = { ...body, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' };
    const attempt: AdmissionAttempt = {
      ...request,
      operation: 'DELETE',
      object: undefined,
      oldObject: current,
      options,
      dryRun,
      complete: (value) => objectAt(value),
    };
    await mutate(context, attempt);
    await validate(context, attempt);
    if (collection.get(key) !== stored) {
      continue;
    }
    const mark = resource.strategy.markForDeletion;
    const isHeld = mark !== undefined || itemsAt(metadata, 'finalizers').length > 0;
    if (isHeld && metadata.deletionTimestamp !== undefined) {
      return { object: current };
    }
    if (dryRun) {
      return isHeld ? { object: current } : { uid: String(metadata.uid) };
    }
    if (!isHeld) {
      collection.write(key, stored, undefined);
      return { uid: String(metadata.uid) };
    }
    const next = copyOf(stored);
    const now = context.now();
    Object.assign(metadataOf(next), { deletionTimestamp: now, deletionGracePeriodSeconds: 0 });
    if (resource.hasGeneration) {
      metadataOf(next).generation = Number(metadata.generation ?? 0) + 1;
    }
    mark?.(next, now);
    const marked = collection.write(key, stored, next) as JsonObject;
    return { object: await present(context, resource, marked) };
  }
}
