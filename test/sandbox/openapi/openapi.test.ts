import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, send } from '../client.ts';

function definition(plural: string, group: string, property = 'size'): JsonObject {
  const kind = plural[0]?.toUpperCase() + plural.slice(1);
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { [property]: { type: 'integer' } } } },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: plural, kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const gadgets = '/openapi/v3/apis/old.example.com/v1';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
  await send(sandbox, 'POST', definitions, { body: definition('gadgets', 'old.example.com') });
  await send(sandbox, 'POST', definitions, { body: definition('others', 'other.example.com') });
  await eventually(
    () => send(sandbox, 'GET', '/openapi/v3'),
    ({ json: { paths } }) => ['old', 'other'].every((group) => `apis/${group}.example.com/v1` in (paths as object)),
  );
});
afterAll(() => sandbox.stop());

function get(path: string, headers: Record<string, string> = {}) {
  return send(sandbox, 'GET', path, { headers });
}

async function hashOf(path: string): Promise<string> {
  return ((await get(path)).headers.etag as string).slice(1, -1);
}

test('a document may be cached forever under its hash, and not without it', async () => {
  const hash = await hashOf(gadgets);
  const { bytes, headers } = await get(`${gadgets}?hash=${hash}`);
  expect(hash).toBe(createHash('sha512').update(bytes).digest('hex').toUpperCase());
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'public, immutable' });
  for (const url of [gadgets, `${gadgets}?hash=ABC`]) {
    const other = await get(url);
    expect(other.bytes.equals(bytes)).toBe(true);
    expect(other.headers['cache-control']).toBe('no-cache, private');
    expect(other.headers.expires).toBeUndefined();
  }
  expect((await get('/openapi/v3/apis/none.example.com/v1')).status).toBe(404);
});

describe("documents of Kubernetes' own kinds", () => {
  const listed = async () => {
    const { paths } = (await get('/openapi/v3')).json as { paths: Record<string, { serverRelativeURL: string }> };
    return Object.values(paths).map(({ serverRelativeURL }) => serverRelativeURL);
  };

  test('are listed with the hashes that they have', async () => {
    for (const url of await listed()) {
      const { status, bytes } = await get(url);
      expect(status, url).toBe(200);
      expect(url).toContain(`?hash=${createHash('sha512').update(bytes).digest('hex').toUpperCase()}`);
    }
  });

  test('have another hash while a CustomResourceDefinition adds a kind to their group', async () => {
    const other = await startSandbox();
    onTestFinished(() => other.stop());
    const hash = async () => {
      const { paths } = (await send(other, 'GET', '/openapi/v3')).json as { paths: Record<string, unknown> };
      return JSON.stringify(paths['apis/scheduling.k8s.io/v1']);
    };
    const before = await hash();
    const name = 'gadgets.scheduling.k8s.io';
    const body = definition('gadgets', 'scheduling.k8s.io');
    expect((await send(other, 'POST', definitions, { body })).status).toBe(201);
    await eventually(hash, (current) => current !== before);
    await send(other, 'DELETE', `${definitions}/${name}`);
    await eventually(hash, (current) => current === before);
  });
});

test('OpenAPI v2 has only its version, in protobuf, for kubectl', async () => {
  const { bytes, headers } = await get('/openapi/v2');
  expect(headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
  // The first field, of type text: 2.0.
  expect([...bytes]).toEqual([0x0a, 3, ...Buffer.from('2.0')]);
});

test('a change of a definition renews only the document of its group and version', async () => {
  const listed = async () => (await get('/openapi/v3')).json.paths as JsonObject;
  const before = await listed();
  const hash = await hashOf(gadgets);
  const headers = { 'content-type': 'application/merge-patch+json' };
  const path = `${definitions}/gadgets.old.example.com`;
  await send(sandbox, 'PATCH', path, { body: { metadata: { labels: { a: 'b' } } }, headers });
  expect(await hashOf(gadgets)).toBe(hash);
  const body = { spec: definition('gadgets', 'old.example.com', 'width').spec as JsonObject };
  await send(sandbox, 'PATCH', path, { body, headers });
  await eventually(
    () => hashOf(gadgets),
    (current) => current !== hash,
  );
  const after = await listed();
  const changed = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
  expect(changed).toEqual(['apis/old.example.com/v1']);
});
