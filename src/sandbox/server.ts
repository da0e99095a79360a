import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { stringify } from 'yaml';
import { failure, type JsonObject, type Status } from '../kubernetes/index.ts';
import type { AdmissionEvent } from './admission.ts';
import { Converter } from './conversion.ts';
import { isAuthorized, makeCredentials } from './credentials.ts';
import { aggregatedDiscovery, coreVersions, groupDocument, groupList, resourceList } from './discovery.ts';
import { ApiError, methodNotAllowed, notAcceptable, tooLargeBody, unauthorized } from './errors.ts';
import { builtInResources } from './kinds.ts';
import { startNamespaces } from './namespaces.ts';
import { metadataOf } from './objects.ts';
import { OpenApi } from './openapi.ts';
import { get, list, type ReadRequest, select, watch } from './reads.ts';
import { startRegistration } from './registration.ts';
import { Registry } from './registry.ts';
import { parseApiPath } from './requests.ts';
import type { Resource, UserInfo } from './resource.ts';
import { Store } from './store.ts';
import type { View } from './tables.ts';
import { type ResolveService, WebhookCaller } from './webhook-call.ts';
import { create, patch, remove, update, type WriteContext } from './writes.ts';

/** Options of `startSandbox`. */
export interface SandboxOptions {
  /** Where the webhooks behind `service` references are. Default: nowhere. */
  resolveService?: ResolveService;
  /** Port on loopback; 0, the default, lets the system choose. */
  port?: number;
  /** Called with what happened in admission that the client does not see. */
  log?(event: AdmissionEvent): void;
  /** Writes per resource that watches can go back to. */
  history?: number;
  clock?(): Date;
}

/** A running sandbox. */
export interface Sandbox {
  /** https://127.0.0.1:PORT */
  url: string;
  /** PEM that verifies it. */
  ca: string;
  token: string;
  /** A kubeconfig (YAML) with one context, for a file that only its owner may read. */
  kubeconfig: string;
  /** Ends all connections and watches. Everything that was stored is gone. */
  stop(): Promise<void>;
}

/** Largest body of a request, in bytes; the limit of the real API server. */
const maxBody = 3 * 1024 * 1024;
/** Longest time a request (without its answer) may take to arrive, in milliseconds. */
const requestTimeout = 60_000;
/** Bytes that may wait for a slow watcher before its watch is ended. */
const maxPending = 16 * 1024 * 1024;

const user: UserInfo = { username: 'sandbox-admin', groups: ['system:masters', 'system:authenticated'] };
const noCache = 'no-cache, private';
const discoveryType =
  /application\/json;(?=[^,]*g=apidiscovery\.k8s\.io)(?=[^,]*v=v2(?:;|,|$))[^,]*as=APIGroupDiscoveryList/;

const version = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.0-extensionconfig-webhook-sandbox',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch}`,
};

interface Context extends WriteContext {
  openapi: OpenApi;
  token: string;
  address: string;
}

function viewOf(accept: string, query: URLSearchParams): { view: View; yaml: boolean } {
  for (const type of (accept === '' ? '*/*' : accept).split(',').map((part) => part.trim())) {
    const [media, ...parameters] = type.split(';').map((part) => part.trim());
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3);
    const yaml = media === 'application/yaml';
    if (media !== 'application/json' && media !== 'application/*' && media !== '*/*' && !yaml) {
      continue;
    }
    if (as === undefined) {
      return { view: { as: 'object' }, yaml };
    }
    const isMeta = parameters.includes('g=meta.k8s.io') && parameters.includes('v=v1');
    if (isMeta && as === 'Table') {
      const include = query.get('includeObject');
      return {
        view: { as: 'table', include: include === 'Object' || include === 'None' ? include : 'Metadata' },
        yaml,
      };
    }
    if (isMeta && as.startsWith('PartialObjectMetadata')) {
      return { view: { as: 'metadata' }, yaml };
    }
  }
  throw notAcceptable(['application/json', 'application/yaml']);
}

function sendJson(
  response: ServerResponse,
  code: number,
  document: JsonObject | Status,
  yaml = false,
  type?: string,
): void {
  const text = yaml ? stringify(document) : `${JSON.stringify(document)}\n`;
  response.writeHead(code, {
    'Cache-Control': noCache,
    'Content-Type': type ?? (yaml ? 'application/yaml' : 'application/json'),
  });
  response.end(text);
}

function sendText(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, {
    'Cache-Control': noCache,
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) {
      throw tooLargeBody(maxBody);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Longest warning, and most characters of all warnings of one answer (apiserver, warning recorder). */
const maxWarning = 256;
const maxWarnings = 4096;

/** Collects warnings: each text once, as headers. */
function warnings(response: ServerResponse): (text: string) => void {
  const seen = new Set<string>();
  let total = 0;
  return (text) => {
    const clean = text.replaceAll(/[\r\n\t]+/g, ' ').trim();
    total += clean.length;
    const kept = total > maxWarnings ? clean.slice(0, maxWarning) : clean;
    if (kept !== '' && !seen.has(kept) && !(total > maxWarnings && seen.size > 16)) {
      seen.add(kept);
      // Header values are Latin-1; UTF-8 bytes pass as such.
      const quoted = Buffer.from(kept.replaceAll(/[\\"]/g, '\\$&'), 'utf8').toString('latin1');
      response.appendHeader('Warning', `299 - "${quoted}"`);
    }
  };
}

function sendOpenApi(context: Context, request: IncomingMessage, response: ServerResponse, url: URL): void {
  const match = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(url.pathname);
  const document = match === null ? undefined : context.openapi.document(match[1] ?? '', match[2] as string);
  if (document === undefined) {
    sendText(response, 404, '404 page not found\n');
    return;
  }
  const etag = `"${document.hash}"`;
  const hash = url.searchParams.get('hash');
  response.setHeader('Etag', etag);
  response.setHeader('Vary', 'Accept');
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Cache-Control', hash === document.hash ? 'public, immutable' : noCache);
  if (hash !== null && hash !== document.hash) {
    response.writeHead(301, { Location: `${url.pathname}?hash=${document.hash}` });
    response.end();
    return;
  }
  if (hash !== null) {
    response.setHeader('Expires', new Date(Date.now() + 365 * 24 * 60 * 60 * 1000).toUTCString());
  }
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304);
    response.end();
    return;
  }
  response.end(document.body);
}

/** Answers everything but resources. @returns false when the path is none of its own. */
function answerDocument(context: Context, request: IncomingMessage, response: ServerResponse, url: URL): boolean {
  const { registry, openapi } = context;
  const parts = url.pathname.split('/').filter((part) => part !== '');
  if (parts[0] === 'openapi' && parts[1] === 'v3') {
    if (parts.length === 2) {
      sendJson(response, 200, openapi.root());
    } else {
      sendOpenApi(context, request, response, url);
    }
    return true;
  }
  const isRoot = parts.length === 1 && (parts[0] === 'api' || parts[0] === 'apis');
  if (isRoot && discoveryType.test(request.headers.accept ?? '')) {
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    sendJson(response, 200, aggregatedDiscovery(registry, parts[0] === 'api'), false, type);
    return true;
  }
  let document: JsonObject | undefined;
  if (isRoot) {
    document = parts[0] === 'api' ? coreVersions(context.address) : groupList(registry);
  } else if (parts[0] === 'api' && parts.length === 2) {
    document = resourceList(registry, '', parts[1] as string);
  } else if (parts[0] === 'apis' && parts.length === 2) {
    document = groupDocument(registry, parts[1] as string);
  } else if (parts[0] === 'apis' && parts.length === 3) {
    document = resourceList(registry, parts[1] as string, parts[2] as string);
  }
  if (document === undefined) {
    return false;
  }
  sendJson(response, 200, document);
  return true;
}

function beginWatch(context: Context, read: ReadRequest, response: ServerResponse): void {
  response.statusCode = 200;
  response.setHeader('Cache-Control', noCache);
  response.setHeader('Content-Type', 'application/json');
  const stop = watch(context, read, {
    write: (line) => {
      response.write(line);
      return response.writableLength <= maxPending;
    },
    end: () => response.end(),
  });
  response.on('close', stop);
  if (!response.headersSent) {
    response.flushHeaders();
  }
}

async function answerResource(
  context: Context,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const path = parseApiPath(url.pathname);
  const resource = path === undefined ? undefined : context.registry.find(path.group, path.version, path.plural);
  const isSubresource = path?.subresource !== undefined && path.subresource !== '';
  const known = resource !== undefined && (!isSubresource || (path?.subresource === 'status' && resource.hasStatus));
  if (path === undefined || !known || (path.namespace !== '' && !resource.namespaced)) {
    sendText(response, 404, '404 page not found\n');
    return;
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
  if (method === 'GET' && resource.traits.answer === undefined) {
    if (query.get('watch') === 'true' || query.get('watch') === '1') {
      beginWatch(context, read, response);
    } else {
      sendJson(response, 200, name === '' ? await list(context, read) : await get(context, read), yaml);
    }
    return;
  }
  const body = await readBody(request);
  const mediaType = request.headers['content-type'];
  const write = { resource, namespace, name, subresource, query, body, mediaType, user, warn };
  const hasNamespace = !resource.namespaced || namespace !== '';
  if (method === 'POST' && name === '' && hasNamespace) {
    sendJson(response, 201, await create(context, write), yaml);
  } else if (method === 'PUT' && name !== '' && hasNamespace) {
    sendJson(response, 200, await update(context, write), yaml);
  } else if (method === 'PATCH' && name !== '' && hasNamespace) {
    sendJson(response, 200, await patch(context, write), yaml);
  } else if (method === 'DELETE' && subresource === '' && hasNamespace) {
    if (name === '') {
      sendJson(response, 200, await removeCollection(context, read, write), yaml);
      return;
    }
    const removed = await remove(context, write);
    sendJson(response, 200, 'object' in removed ? removed.object : successOf(resource, name, removed.uid), yaml);
  } else {
    throw methodNotAllowed('the server does not allow this method on the requested resource');
  }
}

function successOf({ group, plural }: Resource, name: string, uid: string): JsonObject {
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

async function removeCollection(
  context: Context,
  read: ReadRequest,
  write: Parameters<typeof remove>[1],
): Promise<JsonObject> {
  const { objects } = select(context, read);
  for (const object of objects) {
    const { name, namespace = '' } = metadataOf(object);
    try {
      await remove(context, { ...write, name: String(name), namespace: String(namespace) });
    } catch (error) {
      // Another client was faster, which is what this one wanted.
      if (!(error instanceof ApiError && error.status.code === 404)) {
        throw error;
      }
    }
  }
  return list(context, { ...read, view: { as: 'object' }, query: new URLSearchParams(read.query) });
}

async function answer(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://sandbox');
  if (['/healthz', '/readyz', '/livez'].includes(url.pathname)) {
    sendText(response, 200, 'ok');
    return;
  }
  if (url.pathname === '/version') {
    sendJson(response, 200, version);
    return;
  }
  if (!isAuthorized(request.headers.authorization, context.token)) {
    throw unauthorized();
  }
  if (request.method !== 'GET' || !answerDocument(context, request, response, url)) {
    await answerResource(context, request, response, url);
  }
}

function sendError(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const status =
    error instanceof ApiError
      ? error.status
      : failure(500, 'InternalError', 'Internal error occurred: the sandbox failed; this is a bug');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (!request.complete) {
    // The rest of the body is not read; the connection cannot be used again.
    response.setHeader('Connection', 'close');
  }
  sendJson(response, status.code, status);
}

function kubeconfigOf(url: string, ca: string, token: string): string {
  const name = 'extensionconfig-sandbox';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  });
}

/** Namespaces that every cluster has. */
const initialNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Starts an API server on loopback that keeps everything in memory. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const clock = options.clock ?? (() => new Date());
  const now = () => `${clock().toISOString().slice(0, 19)}Z`;
  const credentials = await makeCredentials(clock());
  const store = new Store(options.history);
  const registry = new Registry();
  for (const resource of builtInResources()) {
    registry.set(resource.storage, [resource]);
  }
  const caller = new WebhookCaller(options.resolveService ?? (() => undefined));
  const converter = new Converter(caller);
  const { token } = credentials;
  const log = options.log ?? (() => {});
  const context: Context = {
    store,
    registry,
    caller,
    converter,
    now,
    log,
    openapi: new OpenApi(registry),
    token,
    address: '',
  };
  const server: Server = createServer(
    { cert: credentials.cert, key: credentials.key, requestTimeout, headersTimeout: 20_000, maxHeaderSize: 32 * 1024 },
    (request, response) => {
      answer(context, request, response).catch((error: unknown) => sendError(request, response, error));
    },
  );
  const sockets = new Set<Duplex>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  context.address = `127.0.0.1:${port}`;
  const url = `https://127.0.0.1:${port}`;
  const stops = [startRegistration(context), startNamespaces(context)];
  for (const name of initialNamespaces) {
    const resource = registry.find('', 'v1', 'namespaces') as Resource;
    const body = Buffer.from(JSON.stringify({ metadata: { name } }));
    const query = new URLSearchParams();
    await create(context, {
      resource,
      namespace: '',
      name: '',
      subresource: '',
      query,
      body,
      mediaType: undefined,
      user,
      warn: () => {},
    });
  }
  return {
    url,
    ca: credentials.ca,
    token,
    kubeconfig: kubeconfigOf(url, credentials.ca, token),
    async stop() {
      for (const stop of stops) {
        stop();
      }
      caller.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) {
        socket.destroy();
      }
      await closed;
    },
  };
}
