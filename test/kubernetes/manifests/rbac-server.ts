import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { applyPatch } from 'rfc6902';
import type { Manifest } from './kustomization.ts';

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

/** The permission that a request needs. */
interface Attributes {
  verb: string;
  group: string;
  resource: string;
  namespace: string | undefined;
  name: string | undefined;
}

/** An API server that only knows objects and permissions. */
export interface RbacServer {
  url: string;
  /** Permissions that were needed and granted, as `verb group/resource name`. */
  used: Set<string>;
  /** Permissions that were needed and not granted. */
  refused: string[];
  close(): Promise<void>;
}

const verbs: Record<string, string> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** The attributes of a request, derived from method and path as Kubernetes does. */
function attributesOf(method: string, path: string, isWatch: boolean): Attributes | undefined {
  const match = /^(?:\/api|\/apis\/([^/]+))\/v1[a-z0-9]*(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?$/.exec(path);
  const [, group = '', namespace, resource, name] = match ?? [];
  const verb = method === 'GET' && name === undefined ? (isWatch ? 'watch' : 'list') : verbs[method];
  return resource === undefined || verb === undefined ? undefined : { verb, group, resource, namespace, name };
}

function allows(rule: PolicyRule, { verb, group, resource, name }: Attributes): boolean {
  return (
    rule.apiGroups.includes(group) &&
    rule.resources.includes(resource) &&
    rule.verbs.includes(verb) &&
    // A permission that is limited to names does not apply to requests without one.
    (rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name)))
  );
}

/** The permission as text. */
export function permission(verb: string, group: string, resource: string, name: string | undefined): string {
  return `${verb} ${group === '' ? '' : `${group}/`}${resource}${name === undefined ? '' : ` ${name}`}`;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  const text = Buffer.concat(chunks).toString();
  return text === '' ? undefined : JSON.parse(text);
}

/**
 * Starts it. `clusterRules` apply everywhere, `namespacedRules` in `namespace`; `objects` are keyed by their paths;
 * `served` has the names of resources by the path of their API version.
 */
export async function startRbacServer(
  clusterRules: readonly PolicyRule[],
  namespacedRules: readonly PolicyRule[],
  namespace: string,
  objects: Map<string, Manifest>,
  served: Readonly<Record<string, readonly string[]>> = {},
): Promise<RbacServer> {
  const used = new Set<string>();
  const refused: string[] = [];
  let version = 0;

  function store(path: string, object: Manifest): Manifest {
    version++;
    object.metadata = { ...object.metadata, resourceVersion: String(version) } as Manifest['metadata'];
    objects.set(path, object);
    return object;
  }
  for (const [path, object] of objects) {
    store(path, structuredClone(object));
  }

  function answer(method: string, path: string, isWatch: boolean, body: unknown): [number, unknown] {
    const resources = served[path];
    if (method === 'GET' && resources !== undefined) {
      // Every authenticated user may use discovery (system:discovery).
      return [200, { kind: 'APIResourceList', resources: resources.map((name) => ({ name })) }];
    }
    const attributes = attributesOf(method, path, isWatch);
    if (attributes === undefined) {
      refused.push(`${method} ${path}`);
      return [404, { message: 'no such path' }];
    }
    const rules = [...clusterRules, ...(attributes.namespace === namespace ? namespacedRules : [])];
    const needed = permission(attributes.verb, attributes.group, attributes.resource, attributes.name);
    if (!rules.some((rule) => allows(rule, attributes))) {
      refused.push(needed);
      return [403, { message: `forbidden: ${needed}` }];
    }
    used.add(needed);
    if (method === 'POST') {
      const created = body as Manifest;
      const own = `${path}/${created.metadata.name}`;
      return objects.has(own) ? [409, { message: 'exists' }] : [201, store(own, created)];
    }
    if (attributes.name === undefined) {
      const items = [...objects].filter(([one]) => one.startsWith(`${path}/`)).map(([, object]) => object);
      return [200, { kind: 'List', metadata: { resourceVersion: String(version) }, items }];
    }
    const found = objects.get(path);
    if (found === undefined) {
      return [404, { kind: 'Status', reason: 'NotFound', message: 'not found' }];
    }
    if (method === 'PUT') {
      return [200, store(path, body as Manifest)];
    }
    if (method === 'PATCH') {
      const copy = structuredClone(found);
      const problem = applyPatch(copy, body as Parameters<typeof applyPatch>[1]).find((entry) => entry !== null);
      return problem === undefined ? [200, store(path, copy)] : [422, { message: problem?.message }];
    }
    return [200, found];
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
    const isWatch = searchParams.get('watch') === 'true';
    const [code, object] = answer(request.method ?? '', pathname, isWatch, await bodyOf(request));
    response.writeHead(code, { 'content-type': 'application/json' });
    if (isWatch && code === 200) {
      // Writes change nothing here.
      response.flushHeaders();
      return;
    }
    response.end(JSON.stringify(object));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    used,
    refused,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
