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

/** What a request needs. */
interface Attributes {
  verb: string;
  group: string;
  resource: string;
  namespace: string | undefined;
  name: string | undefined;
}

/** An API server that knows nothing but objects and who may ask for them. */
export interface RbacServer {
  url: string;
  /** Permissions that were needed and there, as `verb group/resource name`. */
  used: Set<string>;
  /** Permissions that were needed and not there. */
  refused: string[];
  close(): Promise<void>;
}

const verbs: Record<string, string> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** The attributes of a request, as Kubernetes reads them from method and path. */
function attributesOf(method: string, path: string): Attributes | undefined {
  const match = /^(?:\/api|\/apis\/([^/]+))\/v1[a-z0-9]*(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?$/.exec(path);
  const [, group = '', namespace, resource, name] = match ?? [];
  const verb = method === 'GET' && name === undefined ? 'list' : verbs[method];
  return resource === undefined || verb === undefined ? undefined : { verb, group, resource, namespace, name };
}

function allows(rule: PolicyRule, { verb, group, resource, name }: Attributes): boolean {
  return (
    rule.apiGroups.includes(group) &&
    rule.resources.includes(resource) &&
    rule.verbs.includes(verb) &&
    // A permission that is limited to names says nothing about requests without one.
    (rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name)))
  );
}

/** How a permission is called here. */
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

/** Starts it. `clusterRules` count everywhere, `namespacedRules` in `namespace`; `objects` are by their paths. */
export async function startRbacServer(
  clusterRules: readonly PolicyRule[],
  namespacedRules: readonly PolicyRule[],
  namespace: string,
  objects: Map<string, Manifest>,
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

  function answer(method: string, path: string, body: unknown): [number, unknown] {
    const attributes = attributesOf(method, path);
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
    const path = (request.url ?? '').split('?')[0]!;
    const [code, object] = answer(request.method ?? '', path, await bodyOf(request));
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(object));
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
