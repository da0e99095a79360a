import { applyPatch, type Operation } from 'rfc6902';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyOperations, type Json, type JsonObject, type PatchOperation } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { schemaOfModel } from '../../../src/sandbox/models/built-in-schemas.ts';
import { applyJsonPatch } from '../../../src/sandbox/patches/patches.ts';
import { applyStrategicMerge } from '../../../src/sandbox/patches/strategic-merge.ts';
import { limitWork } from '../../support/work.ts';
import { send } from '../client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';

function patch(name: string, type: string, body: object, query = '') {
  const headers = { 'content-type': `application/${type}` };
  return send(sandbox, 'PATCH', `${configMaps}/${name}${query}`, { body, headers });
}

test.each([
  ['no array', {}, 400],
  ['a path that is not a pointer', [{ op: 'add', path: 'a', value: 1 }], 400],
  ['no from', [{ op: 'move', path: '/a' }], 400],
  ['a failing test', [{ op: 'test', path: '/a', value: 2 }], 422],
  ['a path into a number', [{ op: 'add', path: '/a/b', value: 1 }], 422],
  ['a missing path', [{ op: 'remove', path: '/b' }], 422],
])('JSON patch with %s', (_name, patch, code) => {
  expect(() => applyJsonPatch({ a: 1 }, patch)).toThrow(
    expect.objectContaining({ status: expect.objectContaining({ code }) }),
  );
});

describe('JSON patch', () => {
  test("copying a value into itself stops at the API server's limit", async () => {
    await send(sandbox, 'POST', configMaps, { body: { metadata: { name: 'copies' }, data: { a: 'x' } } });
    const operations = Array.from({ length: 28 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/a${i}` }));
    const { status, json } = await patch('copies', 'json-patch+json', operations);
    expect(status).toBe(422);
    expect(json).toMatchObject({
      reason: 'Invalid',
      message: expect.stringMatching(/accumulated size increase of copy is \d+, exceeding the limit 3145728$/),
    });
  });

  test('removing from the front of a huge list again and again is refused before it has shifted too many items', () => {
    const operations = Array<PatchOperation>(10_000).fill({ op: 'remove', path: '/0' });
    expect(() => applyOperations(Array<Json>(30_000).fill(0), operations)).toThrow(/moves more than 200000000 items/);
  });

  test('more than 10,000 operations are too many', async () => {
    await send(sandbox, 'POST', configMaps, { body: { metadata: { name: 'many' }, data: { a: 'x' } } });
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: 'x' }));
    const { status, json } = await patch('many', 'json-patch+json', operations);
    expect(status).toBe(413);
    expect(json).toMatchObject({
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
    expect((await patch('many', 'json-patch+json', operations.slice(1))).status).toBe(200);
  });

  const before = { a: { b: [1, 2, 3] }, 'c/d~': null };
  test.each<[string, Operation[]]>([
    ['add a key', [{ op: 'add', path: '/a/x', value: { y: 1 } }]],
    ['add to the end of a list', [{ op: 'add', path: '/a/b/-', value: 4 }]],
    ['add within a list', [{ op: 'add', path: '/a/b/1', value: 4 }]],
    ['add at the end by number', [{ op: 'add', path: '/a/b/3', value: 4 }]],
    ['remove from a list', [{ op: 'remove', path: '/a/b/0' }]],
    ['escaped keys', [{ op: 'replace', path: '/c~1d~0', value: 1 }]],
    ['move', [{ op: 'move', from: '/a/b', path: '/z' }]],
    [
      'copy, then change the copy',
      [
        { op: 'copy', from: '/a', path: '/z' },
        { op: 'add', path: '/z/b/0', value: 0 },
      ],
    ],
    ['test', [{ op: 'test', path: '/a', value: { b: [1, 2, 3] } }]],
  ])('%s', (_name, operations) => {
    const expected = structuredClone(before);
    // Another implementation as the oracle; it modifies its argument.
    expect(applyPatch(expected, operations)).toEqual(operations.map(() => null));
    expect(applyOperations(before, operations as never)).toEqual(expected);
    expect(before).toEqual({ a: { b: [1, 2, 3] }, 'c/d~': null });
  });

  test.each<[string, object[]]>([
    ['an index beyond the end', [{ op: 'add', path: '/a/b/4', value: 1 }]],
    ['an index before the first', [{ op: 'replace', path: '/a/b/-4', value: 1 }]],
    ['a value into itself', [{ op: 'move', from: '/a', path: '/a/b/0' }]],
    ['properties that JavaScript objects inherit', [{ op: 'copy', from: '/constructor', path: '/x' }]],
    ['an unknown operation', [{ op: 'increment', path: '/a' }]],
  ])('%s cannot be applied', (_name, operations) => {
    expect(() => applyOperations(before, operations as never)).toThrow();
  });

  test('the whole document can be replaced', () => {
    expect(applyOperations(before, [{ op: 'replace', path: '', value: [] }])).toEqual([]);
  });

  test('the key __proto__ is an ordinary key', () => {
    const patched = applyOperations({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]) as JsonObject;
    expect(Object.keys(patched)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(patched.polluted).toBeUndefined();
  });
});

describe('strategic merge patch', () => {
  test('keeps the key __proto__', async () => {
    await send(sandbox, 'POST', configMaps, { body: { metadata: { name: 'proto' }, data: { a: 'b' } } });
    const body = Buffer.from('{"data":{"__proto__":"kept","constructor":"too"}}');
    const { text } = await patch('proto', 'strategic-merge-patch+json', body, '?fieldValidation=Ignore');
    expect(text).toContain('"__proto__":"kept"');
    expect(text).toContain('"constructor":"too"');
    const { text: stored } = await send(sandbox, 'GET', `${configMaps}/proto`);
    expect(stored).toContain('"__proto__":"kept"');
  });

  const pod = schemaOfModel('V1Pod');

  test('merges large lists by key in linear time', () => {
    const volumes = (count: number, from = 0): Json[] =>
      Array.from({ length: count }, (_, i) => ({ name: `v${i + from}`, emptyDir: {}, ...fields }));
    // Together more than may be copied again, but each is copied once.
    const fields = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, 0]));
    const finalizers = Array.from({ length: 10_000 }, (_, i) => `f${i}`);
    // With nested scans: over four seconds.
    using _work = limitWork(1_000);
    const merged = applyStrategicMerge(
      { metadata: { finalizers }, spec: { volumes: volumes(10_000) } },
      {
        metadata: {
          finalizers: finalizers.map((name) => `${name}x`),
          '$deleteFromPrimitiveList/finalizers': finalizers,
        },
        spec: { volumes: volumes(10_000, 5_000) },
      },
      pod,
    );
    expect((merged.spec as { volumes: Json[] }).volumes).toHaveLength(15_000);
    expect((merged.metadata as { finalizers: Json[] }).finalizers).toHaveLength(10_000);
  });

  test('many items with the same key are refused before they have copied a large item many times', () => {
    const items = (count: number, name: (index: number) => string): Json[] =>
      Array.from({ length: count }, (_, index) => ({ name: name(index) }));
    const big = { name: 'a', env: items(300, (index) => `e${index}`) };
    const repeats: JsonObject[] = [{ image: 'b' }, { env: items(1, () => 'z') }];
    for (const repeat of repeats) {
      const wide = Object.fromEntries(big.env.map((_, index) => [`x${index}`, 0]));
      const containers = [{ ...big, ...wide }, ...Array<Json>(300).fill({ name: 'a', ...repeat })];
      // Without a limit, ten times as many take two seconds.
      expect(() => applyStrategicMerge({}, { spec: { containers } }, pod)).toThrow(
        /too many items with the same merge key/,
      );
      // Some are merged one after the other, as by the API server.
      const merged = applyStrategicMerge({}, { spec: { containers: containers.slice(0, 20) } }, pod);
      expect((merged.spec as { containers: Json[] }).containers).toHaveLength(1);
    }
  });

  test('deletes, merges and adds items by key', () => {
    const target = { spec: { volumes: [{ name: 'a' }, { name: 'b', emptyDir: {} }, { name: 'c' }] } };
    const change = {
      spec: { volumes: [{ name: 'a', $patch: 'delete' }, { name: 'b', hostPath: { path: '/' } }, { name: 'd' }] },
    };
    expect(applyStrategicMerge(target, change, pod)).toEqual({
      spec: { volumes: [{ name: 'b', emptyDir: {}, hostPath: { path: '/' } }, { name: 'c' }, { name: 'd' }] },
    });
  });
});
