import type { ServerResponse } from 'node:http';
import { type JsonObject, objectsAt } from '../../kubernetes/index.ts';
import { get, isOn, list, type ReadRequest, shownAlone } from '../reads/reads.ts';
import { watch } from '../reads/watches.ts';
import { methodNotAllowed, RequestError } from '../resources/errors.ts';
import { metadataOf, type Resource } from '../resources/resource.ts';
import type { AdmissionContext, WriteRequest } from '../webhooks/admission.ts';
import { remove } from '../writes/deletion.ts';
import { create, patch, update } from '../writes/writes.ts';
import {
  jsonReply,
  noCache,
  type Reply,
  type SandboxHandler,
  send,
  type Target,
  unknownPath,
  viewOf,
  warningHeaders,
} from './http.ts';

/**
 * Parses `/api/v1/…` and `/apis/GROUP/VERSION/…`, with or without `namespaces/NAMESPACE`.
 *
 * @returns undefined for every other path.
 */
function parseApiPath(pathname: string) {
  let parts = pathname.split('/').slice(1).map(decodeURIComponent);
  if (parts.at(-1) === '') {
    parts.pop();
  }
  const root = parts.shift();
  if (root !== 'api' && root !== 'apis') {
    return undefined;
  }
  const group = root === 'api' ? '' : (parts.shift() ?? '');
  const version = parts.shift() ?? '';
  let namespace = '';
  // `namespaces/x` and `namespaces/x/status` refer to the namespace itself.
  if (
    parts[0] === 'namespaces' &&
    parts.length > 2 &&
    !(parts.length === 3 && ['status', 'finalize'].includes(parts[2] ?? ''))
  ) {
    namespace = parts[1] ?? '';
    parts = parts.slice(2);
  }
  const [plural = '', name = '', subresource = '', ...rest] = parts;
  return version === '' || plural === '' || rest.length > 0
    ? undefined
    : { group, version, plural, namespace, name, subresource };
}

/**
 * How long a watch goes on after the definition of its resource has changed, in milliseconds: a kube-apiserver replaces the
 * storage then and gives requests a second to end (apiextensions-apiserver, crdHandler.tearDown).
 */
const tearDownAfter = 1_000;

function beginWatch(
  context: AdmissionContext,
  read: ReadRequest,
  response: ServerResponse,
  warnings: readonly string[],
): void {
  const headers = { 'Cache-Control': noCache, 'Content-Type': 'application/json', ...warningHeaders(warnings) };
  response.statusCode = 200;
  response.setHeaders(new Map(Object.entries(headers)));
  const stop = watch(context, read, response);
  let timer: NodeJS.Timeout | undefined;
  const unsubscribe = context.registry.onChange(read.resource.storage, () => {
    timer ??= setTimeout(() => {
      stop();
      response.end();
    }, tearDownAfter);
  });
  response.on('close', () => {
    stop();
    unsubscribe();
    clearTimeout(timer);
  });
  if (!response.headersSent) {
    response.flushHeaders();
  }
}

function successOf({ group, plural }: Resource, name: string, uid: string): JsonObject {
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

async function removeCollection(
  context: AdmissionContext,
  read: ReadRequest,
  write: WriteRequest,
): Promise<JsonObject> {
  const listed = await list(context, { ...read, view: { as: 'object' } });
  for (const object of objectsAt(listed, 'items')) {
    const { name, namespace = '' } = metadataOf(object);
    try {
      await remove(context, { ...write, name: String(name), namespace: String(namespace) });
    } catch (error) {
      // Another client has already deleted the object, so nothing is left to do.
      if (!(error instanceof RequestError && error.status.code === 404)) {
        throw error;
      }
    }
  }
  return listed;
}

/** Finds the resource of a request; 404 for an unknown path. */
export function findTarget({ registry }: Pick<AdmissionContext, 'registry'>): SandboxHandler {
  return (request, response, next) => {
    const { url, warnings } = response.locals;
    const path = parseApiPath(url.pathname);
    const resource = path === undefined ? undefined : registry.find(path.group, path.version, path.plural);
    const known = path?.subresource === '' || (path?.subresource === 'status' && resource?.hasStatus === true);
    if (path === undefined || resource === undefined || !known || (path.namespace !== '' && !resource.namespaced)) {
      send(response, unknownPath, warnings);
      return;
    }
    if (resource.deprecation !== undefined) {
      warnings.push(resource.deprecation);
    }
    const { namespace, name, subresource } = path;
    const { searchParams: query } = url;
    const view = viewOf(request.headers.accept ?? '', query);
    response.locals.target = { resource, namespace, name, subresource, query, view };
    next();
  };
}

/** Responds to requests for a resource. */
export function answerResource(context: AdmissionContext): SandboxHandler {
  return async ({ method, body, headers }, response) => {
    const { target, warnings } = response.locals;
    if (method === 'GET' && isOn(target.query, 'watch')) {
      beginWatch(context, target, response, warnings);
      return;
    }
    const warn = (text: string) => void warnings.push(text);
    const write = { ...target, body, mediaType: headers['content-type'], warn };
    send(response, await replyTo(context, method, target, write), warnings);
  };
}

/** The reply to a read or a write. @throws {RequestError} */
async function replyTo(context: AdmissionContext, method: string, target: Target, write: WriteRequest): Promise<Reply> {
  const { resource, namespace, name, subresource, view } = target;
  const hasNamespace = !resource.namespaced || namespace !== '';
  const inView = (object: JsonObject) => shownAlone(context, resource, object, view);
  if (method === 'GET') {
    return jsonReply(200, name === '' ? await list(context, target) : await get(context, target));
  }
  if (method === 'POST' && name === '' && hasNamespace) {
    return jsonReply(201, inView(await create(context, write)));
  }
  if (method === 'PUT' && name !== '' && hasNamespace) {
    return jsonReply(200, inView(await update(context, write)));
  }
  if (method === 'PATCH' && name !== '' && hasNamespace) {
    const { object, isNew } = await patch(context, write);
    return jsonReply(isNew ? 201 : 200, inView(object));
  }
  if (method === 'DELETE' && subresource === '' && hasNamespace) {
    if (name === '') {
      return jsonReply(200, await removeCollection(context, target, write));
    }
    const removed = await remove(context, write);
    return jsonReply(200, 'object' in removed ? inView(removed.object) : successOf(resource, name, removed.uid));
  }
  throw methodNotAllowed('the server does not allow this method on the requested resource');
}
