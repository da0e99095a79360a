import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { schemaOfModel } from '../../../src/sandbox/models/built-in-schemas.ts';
import { applyStrategicMerge } from '../../../src/sandbox/patches/strategic-merge.ts';

describe('strategic merge patch', () => {
  const pod = schemaOfModel('V1PodSpec') as Schema;
  const containers = [
    { name: 'a', image: 'a:1', args: ['x'] },
    { name: 'b', image: 'b:1' },
    { name: 'c', image: 'c:1' },
  ];
  test.each<[string, JsonObject, JsonObject]>([
    [
      'items are merged by name, new ones follow',
      { containers: [{ name: 'b', image: 'b:2' }, { name: 'd' }] },
      { containers: [containers[0], { name: 'b', image: 'b:2' }, containers[2], { name: 'd' }] as Json },
    ],
    [
      'an item is deleted',
      { containers: [{ name: 'b', $patch: 'delete' }] },
      { containers: [containers[0], containers[2]] as Json },
    ],
    ['a list is replaced', { containers: [{ $patch: 'replace' }, { name: 'z' }] }, { containers: [{ name: 'z' }] }],
    // Not the item: that is what the directive means in any item of a list.
    [
      'a list is replaced by an item with a key too',
      { containers: [{ name: 'a', $patch: 'replace' }, { name: 'z' }] },
      { containers: [{ name: 'z' }] },
    ],
    [
      'an order is kept',
      { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }, { name: 'b' }] },
      { containers: [containers[2], containers[0], containers[1]] as Json },
    ],
    [
      'a plain list is replaced',
      { containers: [{ name: 'a', args: ['y'] }] },
      { containers: [{ ...containers[0], args: ['y'] }, containers[1], containers[2]] as Json },
    ],
    ['null deletes', { containers: null }, {}],
    ['only retained keys stay', { $retainKeys: ['hostname'], hostname: 'x' }, { hostname: 'x' }],
    ['the whole is replaced', { $patch: 'replace', hostname: 'x' }, { hostname: 'x' }],
    ['the whole is deleted', { $patch: 'delete' }, {}],
  ])('%s', (_name, patch, result) => {
    expect(applyStrategicMerge({ containers: containers as Json }, patch, pod)).toEqual(result);
  });

  test('lists of plain values are merged, and values deleted', () => {
    const metadata = schemaOfModel('V1ObjectMeta') as Schema;
    const finalizers = { finalizers: ['a', 'b'] };
    expect(applyStrategicMerge(finalizers, { finalizers: ['b', 'c'] }, metadata)).toEqual({
      finalizers: ['a', 'b', 'c'],
    });
    const patch = { '$deleteFromPrimitiveList/finalizers': ['a'] };
    expect(applyStrategicMerge(finalizers, patch, metadata)).toEqual({ finalizers: ['b'] });
  });

  test.each<[JsonObject, RegExp]>([
    [{ $patch: 'shuffle' }, /unknown patch type "shuffle"/],
    [{ containers: [{ image: 'x' }] }, /does not contain the merge key "name"/],
  ])('%j is a bad request', (patch, message) => {
    expect(() => applyStrategicMerge({ containers: containers as Json }, patch, pod)).toThrow(message);
  });
});
