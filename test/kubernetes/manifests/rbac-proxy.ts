import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Sandbox } from '../../../src/sandbox/index.ts';
import { type PolicyRule, permission } from './rbac-server.ts';

/** Rules that are granted to a user, in one namespace or everywhere. */
export interface Grant {
  /** undefined: everywhere. */
  namespace: string | undefined;
  rules: readonly PolicyRule[];
}

/** A request as Kubernetes authorizes it: the resource with its subresource. */
interface Attributes {
  verb: string;
  group: string;
  resource: string;
  namespace: string | undefined;
  name: string | undefined;
}

/** A sandbox behind authorization. */
export interface RbacProxy {
  url: string;
  /** Permissions that were needed and granted, in the form of `permissionsOf`. */
  used: Set<string>;
  /** Requests that nothing allows. */
  refused: string[];
  close(): Promise<void>;
}

const verbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

function attributesOf(method: string, url: URL): Attributes | undefined {
  const match =
    /^(?:\/api|\/apis\/([^/]+))\/v1[a-z0-9]*(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(
      url.pathname,
    );
  const [, group = '', namespace, plural, name, subresource] = match ?? [];
  const reading = name !== undefined ? 'get' : url.searchParams.get('watch') === 'true' ? 'watch' : 'list';
  const verb = method === 'GET' ? reading : verbs[method];
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  return plural === undefined || verb === undefined || resource === undefined
    ? undefined
    : { verb, group, resource, namespace, name };
}

/** A permission in a namespace, or everywhere, as text. */
function called(namespace: string | undefined, ...what: Parameters<typeof permission>): string {
  return `${namespace === undefined ? '' : `in ${namespace}: `}${permission(...what)}`;
}

/** Every single permission of grants. */
export function permissionsOf(grants: readonly Grant[]): string[] {
  return grants.flatMap(({ namespace, rules }) =>
    rules.flatMap(({ apiGroups, resources, verbs: allowed, resourceNames }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          allowed.flatMap((verb) =>
            (resourceNames ?? [undefined]).map((name) => called(namespace, verb, group, resource, name)),
          ),
        ),
      ),
    ),
  );
}

/** The permission that allows a request; the first one, so that a duplicate shows as unused. */
function permissionFor(grants: readonly Grant[], wanted: Attributes): string | undefined {
  const { verb, group, resource, name } = wanted;
  for (const { namespace, rules } of grants) {
    if (namespace !== undefined && namespace !== wanted.namespace) {
      continue;
    }
    const rule = rules.find(
      ({ apiGroups, resources, verbs: allowed, resourceNames }) =>
        apiGroups.includes(group) &&
        resources.includes(resource) &&
        allowed.includes(verb) &&
        (resourceNames === undefined || (name !== undefined && resourceNames.includes(name))),
    );
    if (rule !== undefined) {
      return called(namespace, verb, group, resource, rule.resourceNames === undefined ? undefined : name);
    }
  }
  return undefined;
}

function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code, message }));
}

/** A proxy in front of a sandbox, which authorizes nothing itself: passes on what grants allow. */
export async function startRbacProxy(
  sandbox: Pick<Sandbox, 'url' | 'ca' | 'token'>,
  grants: readonly Grant[],
): Promise<RbacProxy> {
  const used = new Set<string>();
  const refused: string[] = [];

  function pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { host: _, authorization: __, ...headers } = incoming.headers;
    const onward = request(
      new URL(incoming.url ?? '/', sandbox.url),
      { method: incoming.method, ca: sandbox.ca, headers: { ...headers, authorization: `Bearer ${sandbox.token}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.on('error', () => response.destroy());
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    incoming.pipe(onward);
  }

  const server = createServer((incoming, response) => {
    const method = incoming.method ?? '';
    const url = new URL(incoming.url ?? '/', 'http://proxy');
    const wanted = attributesOf(method, url);
    const allowed = wanted && permissionFor(grants, wanted);
    if (wanted === undefined || allowed === undefined) {
      refused.push(`${method} ${url.pathname}${wanted?.verb === 'watch' ? ' (watch)' : ''}`);
      incoming.resume();
      refuse(response, 403, 'Forbidden', `not allowed: ${method} ${url.pathname}`);
      return;
    }
    used.add(allowed);
    pass(incoming, response);
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
