import { expect, test } from 'vitest';
import { Store } from '../../../src/sandbox/storage/store.ts';

test('the history of a large object does not fill the memory', () => {
  const collection = new Store({ historyBytes: 64 * 1024 }).collection('a');
  const data = 'x'.repeat(1_000);
  let stored = collection.write('/a', undefined, { metadata: {}, data });
  for (let i = 0; i < 100; i++) {
    stored = collection.write('/a', stored!, { metadata: {}, data: `${data}${i}` });
  }
  expect(collection.eventsAfter(1)).toBeUndefined();
  expect(collection.eventsAfter(collection.oldest)?.length).toBeLessThan(70);
  expect(collection.eventsAfter(100)).toHaveLength(2);
});

test('the store has a limit, and deleting makes room', () => {
  const store = new Store({ storedBytes: 1024 * 1024 });
  const collection = store.collection('a');
  const data = 'x'.repeat(40_000);
  expect(() => {
    for (let i = 0; i < 100; i++) {
      collection.write(`/a${i}`, undefined, { metadata: {}, data });
    }
  }).toThrow('the sandbox stores at most 1 MiB; delete objects first');
  expect(collection.list().length).toBe(26);
  for (const [key, object] of collection.list()) {
    collection.write(key, object, undefined);
  }
  expect(collection.write('/again', undefined, { metadata: {}, data })).toBeDefined();
});
