import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { limitWork, sized } from '../../support/work.ts';
import { send } from '../client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';

function patch(path: string, type: 'json-patch' | 'strategic-merge-patch', body: object) {
  const headers = { 'content-type': `application/${type}+json` };
  return send(sandbox, 'PATCH', `${path}?fieldValidation=Ignore`, { body, headers });
}

describe('JSON patch', () => {
  let path: string;
  let made = 0;
  beforeEach(async () => {
    const name = `patched-${++made}`;
    path = `${configMaps}/${name}`;
    await send(sandbox, 'POST', configMaps, { body: { metadata: { name }, data: { a: 'x' } } });
  });

  test.each([
    ['no array', {}, 400],
    ['a path that is not a pointer', [{ op: 'add', path: 'a', value: 'y' }], 400],
    ['no from', [{ op: 'move', path: '/data/a' }], 400],
    ['a failing test', [{ op: 'test', path: '/data/a', value: 'y' }], 422],
    ['a path into a string', [{ op: 'add', path: '/data/a/b', value: 'y' }], 422],
    ['a missing path', [{ op: 'remove', path: '/data/b' }], 422],
  ])('with %s', async (_name, operations, code) => {
    expect((await patch(path, 'json-patch', operations)).status).toBe(code);
  });

  test("copying a value into itself stops at the API server's limit", async () => {
    const operations = Array.from({ length: 28 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/a${i}` }));
    const { status, json } = await patch(path, 'json-patch', operations);
    expect(status).toBe(422);
    expect(json).toMatchObject({
      reason: 'Invalid',
      message: expect.stringMatching(/accumulated size increase of copy is \d+, exceeding the limit 3145728$/),
    });
  });

  test('more than 10,000 operations are too many', async () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: 'x' }));
    const { status, json } = await patch(path, 'json-patch', operations);
    expect(status).toBe(413);
    expect(json).toMatchObject({
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
    expect((await patch(path, 'json-patch', operations.slice(1))).status).toBe(200);
  });
});

describe('strategic merge patch', () => {
  test('keeps the key __proto__', async () => {
    await send(sandbox, 'POST', configMaps, { body: { metadata: { name: 'proto' }, data: { a: 'b' } } });
    const body = Buffer.from('{"data":{"__proto__":"kept","constructor":"too"}}');
    const { text } = await patch(`${configMaps}/proto`, 'strategic-merge-patch', body);
    expect(text).toContain('"__proto__":"kept"');
    expect(text).toContain('"constructor":"too"');
    const { text: stored } = await send(sandbox, 'GET', `${configMaps}/proto`);
    expect(stored).toContain('"__proto__":"kept"');
  });

  /** Creates a Pod and patches it. */
  async function patched(name: string, metadata: JsonObject, spec: JsonObject, change: JsonObject) {
    const pod = { metadata: { name, ...metadata }, spec: { containers: [{ name: 'c', image: 'c' }], ...spec } };
    const { status, text } = await send(sandbox, 'POST', `${pods}?fieldValidation=Ignore`, { body: pod });
    expect(status, text.slice(0, 300)).toBe(201);
    return patch(`${pods}/${name}`, 'strategic-merge-patch', change);
  }

  test('merges large lists by key in linear time', async () => {
    const size = sized(10_000);
    const volumes = (from: number) => Array.from({ length: size }, (_, i) => ({ name: `v${i + from}`, emptyDir: {} }));
    const finalizers = Array.from({ length: size }, (_, i) => `example.com/f${i}`);
    const change = {
      metadata: {
        finalizers: finalizers.map((name) => `${name}x`),
        '$deleteFromPrimitiveList/finalizers': finalizers,
      },
      spec: { volumes: volumes(size - 100) },
    };
    // With nested scans: over four seconds.
    using _work = limitWork(2_000);
    const { status, json } = await patched('large', { finalizers }, { volumes: volumes(0) }, change);
    expect(status).toBe(200);
    expect((json.spec as { volumes: object[] }).volumes).toHaveLength(2 * size - 100);
    expect((json.metadata as { finalizers: object[] }).finalizers).toHaveLength(size);
  });

  test.each([
    ['small', { image: 'b' }],
    ['large', { env: [{ name: 'z' }] }],
  ])('many %s items with the same key are refused before they have copied a large item many times', async (name, repeat) => {
    const env = Array.from({ length: 300 }, (_, index) => ({ name: `e${index}` }));
    const wide = Object.fromEntries(env.map((_, index) => [`x${index}`, 0]));
    const containers = [{ name: 'c', env, ...wide }, ...Array(300).fill({ name: 'c', ...repeat })];
    const refused = await patched(`repeated-${name}`, {}, {}, { spec: { containers } });
    expect([refused.status, refused.json.message]).toEqual([
      400,
      expect.stringContaining('too many items with the same merge key'),
    ]);
    // Some are merged one after the other, as by the API server.
    const change = { spec: { containers: containers.slice(0, 20) } };
    const { json } = await patch(`${pods}/repeated-${name}`, 'strategic-merge-patch', change);
    expect((json.spec as { containers: object[] }).containers).toHaveLength(1);
  });

  test('deletes, merges and adds items by key', async () => {
    const volumes = [{ name: 'a' }, { name: 'b', emptyDir: {} }, { name: 'c' }];
    const change = {
      spec: { volumes: [{ name: 'a', $patch: 'delete' }, { name: 'b', hostPath: { path: '/' } }, { name: 'd' }] },
    };
    const { json } = await patched('volumes', {}, { volumes }, change);
    expect((json.spec as JsonObject).volumes).toEqual([
      { name: 'b', emptyDir: {}, hostPath: { path: '/' } },
      { name: 'c' },
      { name: 'd' },
    ]);
  });
});

describe('server-side apply in a dry run', () => {
  const lists = {
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, port: { type: 'integer' }, at: { type: 'string' } },
      },
    },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    args: { type: 'array', items: { type: 'string' } },
    size: { type: 'string', default: 'small' },
  };
  const collection = '/apis/example.com/v1/namespaces/default/things';
  const stored = {
    ports: [
      { name: 'a', port: 1, at: 'x' },
      { name: 'b', port: 2 },
    ],
    tags: ['old'],
    args: ['old'],
    size: 'large',
  };

  const apply = (name: string, spec: object, query = '?dryRun=All&fieldManager=me&force=true&fieldValidation=Strict') =>
    send(sandbox, 'PATCH', `${collection}/${name}${query}`, {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name }, spec },
    });

  beforeAll(async () => {
    const defined = await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      body: {
        metadata: { name: 'things.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'things', kind: 'Thing' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: lists } } },
              },
            },
          ],
        },
      },
    });
    expect(defined.status, defined.text).toBe(201);
    const body = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'thing' }, spec: stored };
    expect((await send(sandbox, 'POST', collection, { body })).status).toBe(201);
  });

  test('items of maps are merged by their keys, those of sets added, other lists replaced', async () => {
    const given = { ports: [{ name: 'a', port: 3 }, { name: 'c' }], tags: ['new'], args: ['new'] };
    const { status, json } = await apply('thing', given);
    expect([status, json.spec]).toEqual([
      200,
      {
        ports: [{ name: 'a', port: 3, at: 'x' }, { name: 'b', port: 2 }, { name: 'c' }],
        tags: ['old', 'new'],
        args: ['new'],
        size: 'large',
      },
    ]);
    expect((await send(sandbox, 'GET', `${collection}/thing`)).json.spec).toEqual(stored);
  });

  test('an object that does not exist is created, with its defaults', async () => {
    const { status, json } = await apply('other', { tags: ['a'] });
    expect([status, json.spec]).toEqual([201, { tags: ['a'], size: 'small' }]);
    expect((await send(sandbox, 'GET', `${collection}/other`)).status).toBe(404);
  });

  test.each([
    ['an unknown field', { colour: 'red' }, undefined, 400, 'unknown field "spec.colour"'],
    ['no manager', {}, '?dryRun=All', 422, 'fieldManager: Required value'],
    ['a write', {}, '?fieldManager=me', 415, 'in dry runs only'],
  ])('%s is refused', async (_name, spec, query, code, text) => {
    const { status, json } = await apply('thing', spec, query);
    expect([status, json.message]).toEqual([code, expect.stringContaining(text)]);
  });
});
