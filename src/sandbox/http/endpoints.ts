import type { IncomingMessage, ServerResponse } from 'node:http';
import { type JsonObject, objectsAt } from '../../kubernetes/index.ts';
import { get, isOn, list, type ReadRequest, shownAlone } from '../reads/reads.ts';
import { watch } from '../reads/watches.ts';
import { badRequest, methodNotAllowed, RequestError, tooManyRequests } from '../resources/errors.ts';
import { metadataOf, type Resource } from '../resources/resource.ts';
import { remove } from '../writes/deletion.ts';
import { checkUnchanged, type WriteContext, type WriteRequest } from '../writes/write-request.ts';
import { create, patch, update } from '../writes/writes.ts';
import { jsonReply, noCache, type Reply, readBody, unknownPath, viewOf, warnings } from './http.ts';
import type { InFlight } from './in-flight.ts';
import { parseApiPath } from './requests.ts';

/**
 * How long a watch goes on after the definition of its resource has changed, in milliseconds: a kube-apiserver replaces the
 * storage then and gives requests a second to end (apiextensions-apiserver, crdHandler.tearDown).
 */
const tearDownAfter = 1_000;
/** How long a client of a watch may take to read what was sent, in milliseconds. */
const maxStall = 30_000;

export interface EndpointContext extends WriteContext {
  inFlight: InFlight;
}

function beginWatch(context: EndpointContext, read: ReadRequest, response: ServerResponse): void {
  response.statusCode = 200;
  response.setHeader('Cache-Control', noCache);
  response.setHeader('Content-Type', 'application/json');
  const stop = watch(context, read, {
    write: (line) => response.write(line),
    drained: () => drained(response, context.inFlight),
    end: () => response.end(),
    drop: () => response.destroy(),
  });
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

/**
 * Resolves when a client has read the response; with false if that takes too long, or if too many other clients do not
 * read.
 */
function drained(response: ServerResponse, inFlight: InFlight): Promise<boolean> {
  const bytes = response.writableLength;
  if (!inFlight.reserve(bytes)) {
    return Promise.resolve(false);
  }
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), maxStall).unref();
  const read = () => resolve(true);
  response.once('drain', read).once('close', read);
  return promise.finally(() => {
    clearTimeout(timer);
    response.off('drain', read).off('close', read);
    inFlight.release(bytes);
  });
}

function successOf({ group, plural }: Resource, name: string, uid: string): JsonObject {
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

async function removeCollection(context: WriteContext, read: ReadRequest, write: WriteRequest): Promise<JsonObject> {
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

/** Subresources that the API server of a cluster passes on to the node of a pod. */
const ofNodes = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);
/**
 * Commands of kubectl that use these. Of a Deployment, for example, they wait for a pod, up to a minute. kubectl names its
 * command in a header (KEP-859).
 */
const commandsOfNodes = new Set(
  ['logs', 'exec', 'attach', 'port-forward', 'cp', 'debug'].map((name) => `kubectl ${name}`),
);

/** Refuses what needs a running pod. @throws {RequestError} 400. */
function refuseNodes(request: IncomingMessage, subresource: string | undefined): void {
  const command = request.headers['kubectl-command'];
  if (ofNodes.has(subresource ?? '') || (typeof command === 'string' && commandsOfNodes.has(command))) {
    throw badRequest('nothing runs in the sandbox, so no pod has logs or accepts connections');
  }
}

/** Handles a request for a resource; 404 for an unknown path. @returns undefined for a watch. @throws {RequestError} */
export async function answerResource(
  context: EndpointContext,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<Reply | undefined> {
  const path = parseApiPath(url.pathname);
  refuseNodes(request, path?.subresource);
  const resource = path === undefined ? undefined : context.registry.find(path.group, path.version, path.plural);
  const known = path?.subresource === '' || (path?.subresource === 'status' && resource?.hasStatus === true);
  if (path === undefined || resource === undefined || !known || (path.namespace !== '' && !resource.namespaced)) {
    return unknownPath;
  }
  if (resource.isCustom && context.registry.servedFor(resource.storage) < context.initializing) {
    throw tooManyRequests('storage is (re)initializing');
  }
  const warn = warnings(response);
  if (resource.deprecation !== undefined) {
    warn(resource.deprecation);
  }
  const { searchParams: query } = url;
  const { namespace, name, subresource } = path;
  const method = request.method ?? 'GET';
  const { view, yaml } = viewOf(request.headers.accept ?? '', query);
  const read: ReadRequest = { resource, namespace, name, query, view };
  if (method === 'GET') {
    if (isOn(query, 'watch')) {
      beginWatch(context, read, response);
      return undefined;
    }
    const object = name === '' ? await list(context, read) : await get(context, read);
    checkUnchanged(context, resource);
    return jsonReply(200, object, yaml);
  }
  const body = await readBody(request, context.inFlight);
  const mediaType = request.headers['content-type'];
  const write = { resource, namespace, name, subresource, query, body, mediaType, warn };
  const hasNamespace = !resource.namespaced || namespace !== '';
  const written = (object: JsonObject) => shownAlone(context, resource, object, view);
  if (method === 'POST' && name === '' && hasNamespace) {
    return jsonReply(201, written(await create(context, write)), yaml);
  }
  if (method === 'PUT' && name !== '' && hasNamespace) {
    return jsonReply(200, written(await update(context, write)), yaml);
  }
  if (method === 'PATCH' && name !== '' && hasNamespace) {
    return jsonReply(200, written(await patch(context, write)), yaml);
  }
  if (method === 'DELETE' && subresource === '' && hasNamespace) {
    if (name === '') {
      return jsonReply(200, await removeCollection(context, read, write), yaml);
    }
    const removed = await remove(context, write);
    return jsonReply(200, 'object' in removed ? written(removed.object) : successOf(resource, name, removed.uid), yaml);
  }
  throw methodNotAllowed('the server does not allow this method on the requested resource');
}
