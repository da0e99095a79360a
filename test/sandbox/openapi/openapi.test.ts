import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { PublishedDocument } from '../../../src/kubernetes/openapi/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, send } from '../client.ts';

const json = 'application/json';
const asked = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';

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

async function startWithDefinitions(): Promise<void> {
  sandbox = await startSandbox();
  await send(sandbox, 'POST', definitions, { body: definition('gadgets', 'old.example.com') });
  await send(sandbox, 'POST', definitions, { body: definition('others', 'other.example.com') });
  await eventually(
    () => send(sandbox, 'GET', '/openapi/v3'),
    ({ json: { paths } }) => ['old', 'other'].every((group) => `apis/${group}.example.com/v1` in (paths as object)),
  );
}
beforeAll(startWithDefinitions);
afterAll(() => sandbox.stop());

function get(path: string, headers: Record<string, string> = {}) {
  return send(sandbox, 'GET', path, { headers });
}

async function hashOf(path: string): Promise<string> {
  return ((await get(path)).headers.etag as string).slice(1, -1);
}

describe('responses have the recorded headers', async () => {
  const text = readFileSync(new URL('../../support/fixtures/openapi/headers.txt', import.meta.url), 'utf8');
  const sections = text.trim().split(/^# /m).slice(1);
  const requests: [path: (hash: string) => string, accept: string | undefined][] = [
    [() => gadgets, asked],
    [() => gadgets, json],
    [(hash) => `${gadgets}?hash=${hash}`, undefined],
    [() => `${gadgets}?hash=ABC`, undefined],
    [() => gadgets, 'text/html'],
  ];
  const cases = sections.map((section, index) => [section.split('\n')[0], section, requests[index]] as const);
  /** Headers that are specific to a document or a moment. */
  const own = new Set(['etag', 'last-modified', 'expires', 'content-length', 'location']);

  test.each(cases)('%s', async (_, section, request) => {
    const [, status = '', ...lines] = section
      .trim()
      .split('\n')
      .map((line) => line.trim());
    const recorded = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)));
    const [path, accept] = request as (typeof requests)[number];
    const hash = await hashOf(gadgets);
    const answer = await get(path(hash), accept === undefined ? {} : { accept });
    expect(`HTTP/2 ${answer.status}`).toBe(status);
    const headers = Object.entries(answer.headers).filter(
      ([name]) => !['date', 'connection', 'keep-alive'].includes(name),
    );
    const comparable = (entries: [string, unknown][]) =>
      Object.fromEntries(entries.map(([name, value]) => [name, own.has(name) ? 'its own' : value]));
    expect(comparable(headers)).toEqual(comparable(Object.entries(recorded)));
    expect(answer.headers.etag).toBe('etag' in recorded ? `"${hash}"` : undefined);
    expect(answer.headers.location).toBe('location' in recorded ? `${gadgets}?hash=${hash}` : undefined);
  });
});

test('the hash is that of the JSON, and protobuf represents the same document', async () => {
  const text = await get(gadgets);
  const bytes = await get(gadgets, { accept: asked });
  expect(text.headers.etag).toBe(`"${createHash('sha512').update(text.bytes).digest('hex').toUpperCase()}"`);
  expect(bytes.bytes.equals(new PublishedDocument(text.json, new Date()).as('protobuf'))).toBe(true);
  const description = new URL('../../../src/kubernetes/openapi/openapi-v3.proto', import.meta.url);
  const type = protobuf
    .parse(readFileSync(description, 'utf8'), { keepCase: true })
    .root.lookupType('openapi.v3.Document');
  const { paths, components } = type.toObject(type.decode(bytes.bytes)) as Record<string, Record<string, unknown>>;
  const names = (entries: unknown) => (entries as { name: string }[]).map(({ name }) => name);
  const { schemas } = text.json.components as { schemas: object };
  expect(names(paths?.path)).toEqual(Object.keys(text.json.paths as object));
  expect(names((components?.schemas as JsonObject).additional_properties)).toEqual(Object.keys(schemas));
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

test('a default that looks like a reference is none', async () => {
  const body = definition('lures', 'lure.example.com');
  const [version] = (body.spec as { versions: { schema: { openAPIV3Schema: { properties: JsonObject } } }[] }).versions;
  const property = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const value = { $ref: '#/components/schemas/io.k8s.api.v1.Nothing' };
  Object.assign(version?.schema.openAPIV3Schema.properties ?? {}, { lure: { ...property, default: value } });
  expect((await send(sandbox, 'POST', definitions, { body })).status).toBe(201);
  const path = '/openapi/v3/apis/lure.example.com/v1';
  const { json: document } = await eventually(
    () => get(path),
    ({ status }) => status !== 404,
  );
  const { schemas } = document.components as { schemas: JsonObject };
  expect(Object.keys(schemas)).not.toContain('io.k8s.api.v1.Nothing');
  expect(schemas['com.example.lure.v1.Lures']).toMatchObject({ properties: { lure: { default: value } } });
});

test('the root document is JSON, whatever is requested', async () => {
  const root = await get('/openapi/v3', { accept: asked });
  expect(root.headers['content-type']).toBe(json);
  expect(root.json.paths).toBeDefined();
});

test.each<[string, (etag: string) => string, number]>([
  ['its ETag', (etag) => etag, 304],
  ['its ETag among others', (etag) => `"a", W/${etag}`, 304],
  ['any ETag', () => '*', 304],
  ['another ETag', () => '"a"', 200],
])('requested with %s', async (_, tagsFor, status) => {
  const { headers } = await get(gadgets);
  const answer = await get(gadgets, { 'if-none-match': tagsFor(String(headers.etag)) });
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe(status === 304 ? undefined : json);
});

/** The lines of the metric for regenerated documents. */
async function regenerations(): Promise<string[]> {
  const { text } = await get('/metrics');
  return text.split('\n').filter((line) => line.startsWith('apiextensions_openapi_v3_regeneration_count{'));
}

const series = (plural: string, group: string, reason: string, count: number) =>
  `apiextensions_openapi_v3_regeneration_count{crd="${plural}.${group}",group="${group}",version="v1",reason="${reason}"} ${count}`;

describe('changes', () => {
  // Counts since the start.
  beforeEach(async () => {
    await sandbox.stop();
    await startWithDefinitions();
  });

  test('of a group and version renew its documents, and are counted', async () => {
    await get('/openapi/v3');
    expect(await regenerations()).toEqual([
      series('gadgets', 'old.example.com', 'add', 1),
      series('others', 'other.example.com', 'add', 1),
    ]);
    const before = await get('/openapi/v3');
    const hash = await hashOf(gadgets);
    const body = { spec: definition('gadgets', 'old.example.com', 'width').spec as JsonObject };
    const headers = { 'content-type': 'application/merge-patch+json' };
    await send(sandbox, 'PATCH', `${definitions}/gadgets.old.example.com`, { body, headers });
    await eventually(
      () => hashOf(gadgets),
      (current) => current !== hash,
    );
    const after = await get('/openapi/v3');
    const changed = Object.keys(after.json.paths as object).filter(
      (path) =>
        JSON.stringify((after.json.paths as JsonObject)[path]) !==
        JSON.stringify((before.json.paths as JsonObject)[path]),
    );
    expect(changed).toEqual(['apis/old.example.com/v1']);
    expect(await regenerations()).toEqual([
      series('gadgets', 'old.example.com', 'add', 1),
      series('others', 'other.example.com', 'add', 1),
      series('gadgets', 'old.example.com', 'update', 1),
    ]);
    const { text } = await get('/metrics');
    expect(/^crd_openapi_v3_aggregation_duration_seconds_count (\d+)$/m.exec(text)?.[1]).toBe('3');
  });

  test('that do not affect a document are not counted', async () => {
    const before = await regenerations();
    const { headers: old } = await get(gadgets);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = { metadata: { labels: { a: 'b' } }, spec: { preserveUnknownFields: false } };
    await send(sandbox, 'PATCH', `${definitions}/gadgets.old.example.com`, { body, headers });
    await new Promise((resolve) => setImmediate(resolve));
    const { headers: current } = await get(gadgets);
    expect([current.etag, current['last-modified']]).toEqual([old.etag, old['last-modified']]);
    expect(await regenerations()).toEqual(before);
  });
});

test('metrics require the token', async () => {
  expect((await get('/metrics', { authorization: 'Bearer x' })).status).toBe(401);
});
