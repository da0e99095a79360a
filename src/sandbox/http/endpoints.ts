import { type JsonObject, objectsAt } from '../../kubernetes/index.ts';
import { get, isOn, list, shownAlone } from '../reads/reads.ts';
import { watch } from '../reads/watches.ts';
import { failed, RequestError } from '../resources/errors.ts';
import { metadataOf, type Resource, type ResourceRequest } from '../resources/resource.ts';
import type { ApiContext } from '../webhooks/admission.ts';
import { remove } from '../writes/deletion.ts';
import { create, patch, update } from '../writes/writes.ts';
import {
  noCache,
  type SandboxHandler,
  type SandboxResponse,
  sendJson,
  sendUnknownPath,
  viewOf,
  warningHeaders,
} from './http.ts';

/** The parts of `/api/v1/…` and `/apis/GROUP/VERSION/…`; undefined for every other path. */
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
  const isOwnSubresource = parts.length === 3 && ['status', 'finalize'].includes(parts[2] ?? '');
  if (parts[0] === 'namespaces' && parts.length > 2 && !isOwnSubresource) {
    namespace = parts[1] ?? '';
    parts = parts.slice(2);
  }
  const [plural = '', name = '', subresource = '', ...rest] = parts;
  return version === '' || plural === '' || rest.length > 0
    ? undefined
    : { group, version, plural, namespace, name, subresource };
}

/** How long a watch outlives a change of its definition, in milliseconds (apiextensions-apiserver, crdHandler.tearDown). */
const tearDownAfter = 1_000;

function beginWatch(context: ApiContext, request: ResourceRequest, response: SandboxResponse): void {
  const warnings = warningHeaders(response.locals.warnings);
  // `response.set` would add a charset.
  response.setHeaders(
    new Map(Object.entries({ 'Cache-Control': noCache, 'Content-Type': 'application/json', ...warnings })),
  );
  const stop = watch(context, request, response);
  let timer: NodeJS.Timeout | undefined;
  const unsubscribe = context.registry.onChange(request.resource.storage, () => {
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

async function removeCollection(context: ApiContext, request: ResourceRequest): Promise<JsonObject> {
  const listed = await list(context, { ...request, view: { as: 'object' } });
  for (const object of objectsAt(listed, 'items')) {
    const { name, namespace = '' } = metadataOf(object);
    try {
      await remove(context, { ...request, name: String(name), namespace: String(namespace) });
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
export function findTarget({ registry }: ApiContext): SandboxHandler {
  return ({ headers }, response, next) => {
    const { url, warnings } = response.locals;
    const path = parseApiPath(url.pathname);
    const resource = path && registry.find(path.group, path.version, path.plural);
    const known = path?.subresource === '' || (path?.subresource === 'status' && resource?.hasStatus === true);
    if (path === undefined || resource === undefined || !known || (path.namespace !== '' && !resource.namespaced)) {
      sendUnknownPath(response);
      return;
    }
    if (resource.deprecation !== undefined) {
      warnings.push(resource.deprecation);
    }
    const { namespace, name, subresource } = path;
    const { searchParams: query } = url;
    const view = viewOf(headers.accept ?? '', query);
    const warn = (text: string) => void warnings.push(text);
    const mediaType = headers['content-type'];
    response.locals.target = { resource, namespace, name, subresource, query, view, mediaType, warn };
    next();
  };
}

/** Responds to requests for the resource that `findTarget` found. */
export function answerResource(context: ApiContext): SandboxHandler {
  return async ({ method, body }, response) => {
    const request = { ...response.locals.target, body };
    if (method === 'GET' && isOn(request.query, 'watch')) {
      beginWatch(context, request, response);
    } else {
      const { code = 200, object } = await answerTo(context, method, request);
      sendJson(response, code, object);
    }
  };
}

async function answerTo(
  context: ApiContext,
  method: string,
  request: ResourceRequest,
): Promise<{ code?: number; object: JsonObject }> {
  const { resource, namespace, name, subresource, view } = request;
  const hasNamespace = !resource.namespaced || namespace !== '';
  const inView = (object: JsonObject) => shownAlone(context, resource, object, view);
  if (method === 'GET') {
    return { object: name === '' ? await list(context, request) : await get(context, request) };
  }
  if (method === 'POST' && name === '' && hasNamespace) {
    return { code: 201, object: inView(await create(context, request)) };
  }
  if (method === 'PUT' && name !== '' && hasNamespace) {
    return { object: inView(await update(context, request)) };
  }
  if (method === 'PATCH' && name !== '' && hasNamespace) {
    const { object, isNew } = await patch(context, request);
    return { code: isNew ? 201 : 200, object: inView(object) };
  }
  if (method === 'DELETE' && subresource === '' && hasNamespace) {
    if (name === '') {
      return { object: await removeCollection(context, request) };
    }
    const removed = await remove(context, request);
    return { object: 'object' in removed ? inView(removed.object) : successOf(resource, name, removed.uid) };
  }
  throw failed(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}
