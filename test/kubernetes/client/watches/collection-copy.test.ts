import { expect, test } from 'vitest';
import {
  CollectionCopy,
  type CollectionCopyOptions,
} from '../../../../src/kubernetes/client/watches/collection-copy.ts';

const object = (name: string, resourceVersion = '1', more = {}) => ({
  metadata: { name, uid: `uid of ${name}`, resourceVersion },
  ...more,
});
const lengthOf = (...objects: object[]) => objects.reduce((sum, one) => sum + JSON.stringify(one).length, 0);

function copyOf(options: Partial<CollectionCopyOptions> = {}) {
  const lines: string[] = [];
  const copy = new CollectionCopy({
    resource: 'things',
    maxObjects: 10,
    maxLength: Number.POSITIVE_INFINITY,
    onChange: ({ type, key }) => lines.push(`${type} ${key}, of ${copy.list().length}`),
    ...options,
  });
  const replaceBy = (...objects: ReturnType<typeof object>[]) => {
    const found = copy.newList();
    objects.map(found.add);
    found.replace();
  };
  return { copy, lines, replaceBy };
}

test('a change is in the copy before it is reported', () => {
  const { copy, lines } = copyOf();
  copy.put(object('a'));
  copy.put(object('b'));
  copy.put(object('a', '2'));
  copy.remove('a');
  copy.remove('a');
  expect(lines).toEqual(['added a, of 1', 'added b, of 2', 'updated a, of 2', 'deleted a, of 1']);
});

test('a list changes nothing before it is complete; then deletions are reported before additions', () => {
  const { copy, lines } = copyOf({ maxObjects: 2 });
  copy.put(object('a'));
  copy.put(object('b'));
  const found = copy.newList();
  found.add(object('b', '2'));
  found.add(object('c'));
  expect(lines).toHaveLength(2);
  found.replace();
  expect(lines.slice(2)).toEqual(['deleted a, of 1', 'updated b, of 1', 'added c, of 2']);
});

test('a list may be as long as the limit, whatever the copy contained before', () => {
  const [a, b] = [object('a', '1', { data: 'x'.repeat(100) }), object('b')];
  const [shortA, longB] = [object('a', '2'), object('b', '2', { data: 'x'.repeat(100) })];
  const { copy, replaceBy } = copyOf({ maxLength: lengthOf(a, b) });
  replaceBy(a, b);
  // B comes first, while the long A is still there.
  replaceBy(longB, shortA);
  expect(copy.list()).toEqual([shortA, longB]);
  expect(() => replaceBy(a, longB)).toThrow('the copy of things takes more than');
  expect(copy.list()).toEqual([shortA, longB]);
});

test('what exceeds a limit is not added, and the count stays correct', () => {
  const limit = lengthOf(object('a'), object('b'));
  const { copy } = copyOf({ maxObjects: 3, maxLength: limit });
  copy.put(object('a'));
  copy.put(object('b'));
  for (let round = 0; round < 3; round++) {
    expect(() => copy.put(object('c'))).toThrow('the copy of things takes more than');
    expect(() => copy.put(object('b', '10'))).toThrow('the copy of things takes more than');
  }
  copy.remove('a');
  copy.put(object('c'));
  expect(copy.list()).toEqual([object('b'), object('c')]);
  const { copy: few } = copyOf({ maxObjects: 1 });
  few.put(object('a'));
  expect(() => few.put(object('b'))).toThrow('there are more than 1 things: select by label');
  few.put(object('a', '2'));
  expect(few.list()).toEqual([object('a', '2')]);
});
