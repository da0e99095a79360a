import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { KubernetesClient } from '../../../src/kubernetes/client/index.ts';
import { groupOf, type Json, type JsonObject, namespaceOf, objectAt, textAt } from '../../../src/kubernetes/index.ts';
import type { Sandbox } from '../../../src/sandbox/index.ts';
import { localhost, testCa } from '../../base/x509/certificates.ts';

const pluralOf = (kind: string) => `${kind.toLowerCase()}s`;
const isBuiltIn = (object: JsonObject) => !textAt(object, 'apiVersion').includes('.');

/** A definition that takes objects of a kind as they are. */
function definitionOf(object: JsonObject): JsonObject {
  const [group, kind] = [groupOf(object), textAt(object, 'kind')];
  const version = textAt(object, 'apiVersion').split('/')[1] ?? '';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${pluralOf(kind)}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural: pluralOf(kind), singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
}

export const pathOf = (object: JsonObject) =>
  `/apis/${textAt(object, 'apiVersion')}/namespaces/${namespaceOf(object)}/${pluralOf(textAt(object, 'kind'))}`;

/** Stores the objects of a recording as they are. */
export async function store(client: KubernetesClient, objects: readonly JsonObject[]): Promise<void> {
  const custom = objects.filter((object) => !isBuiltIn(object));
  const kinds = new Map(custom.map((object) => [`${groupOf(object)} ${textAt(object, 'kind')}`, object]));
  for (const object of kinds.values()) {
    await client.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definitionOf(object));
  }
  for (const object of custom) {
    const { resourceVersion: _version, uid: _uid, ...metadata } = objectAt(object, 'metadata');
    await client.request('POST', pathOf(object), { ...object, metadata });
  }
}

/** A request that an API server got. */
export interface Received {
  method: string;
  /** With the query. */
  path: string;
  type: string;
  body: JsonObject;
}

/** An answer of an API server that refuses something. */
export const refusal = (code: number, message: string): { code: number; body: Json } => ({
  code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message },
});

/**
 * A kubeconfig for an API server that answers some requests itself, and passes on all others to the sandbox; and all requests
 * that it gets.
 */
export async function startProxy(
  { url, token, ca }: Sandbox,
  folder: string,
  answer: (received: Received) => { code: number; body: Json } | undefined = () => undefined,
): Promise<{ file: string; received: Received[] }> {
  const received: Received[] = [];
  const proxy = createServer({ ...localhost }, async (incoming, response) => {
    const sent = await text(incoming);
    const { method = '', url: path = '' } = incoming;
    const type = incoming.headers['content-type'] ?? '';
    const one = { method, path, type, body: sent === '' ? {} : (JSON.parse(sent) as JsonObject) };
    received.push(one);
    const own = answer(one);
    if (own !== undefined) {
      response.writeHead(own.code, { 'content-type': 'application/json' }).end(JSON.stringify(own.body));
      return;
    }
    const headers = { authorization: `Bearer ${token}`, ...(type !== '' && { 'content-type': type }) };
    request(new URL(path, url), { ca, headers, method }, (passed) => {
      response.writeHead(passed.statusCode ?? 500, { 'content-type': 'application/json' });
      passed.pipe(response);
    }).end(sent);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const file = join(folder, `proxy-${port}`);
  const clusters = [
    {
      name: 'a',
      cluster: {
        server: `https://localhost:${port}`,
        'certificate-authority-data': Buffer.from(testCa.cert).toString('base64'),
      },
    },
  ];
  const users = [{ name: 'a', user: { token: 'none' } }];
  const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }];
  const config = { apiVersion: 'v1', kind: 'Config', clusters, users, contexts, 'current-context': 'a' };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return { file, received };
}
