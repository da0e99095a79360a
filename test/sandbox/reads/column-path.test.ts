import { expect, test } from 'vitest';
import { columnReader } from '../../../src/sandbox/reads/column-path.ts';

const object = {
  metadata: { labels: { 'a.b/c': 'label', 'a-b': 'dash' } },
  list: [
    { name: 'one', size: 1 },
    { name: 'two', size: 2 },
  ],
};

test.each([
  ['.metadata.labels.a-b', 'dash'],
  ['.metadata.labels.a\\.b/c', 'label'],
  [".metadata.labels['a\\.b/c']", 'label'],
  ['.list[1].name', 'two'],
  ['.list[?(@.name=="two")].size', 2],
  [".list[?(@.name == 'one')].size", 1],
])('%s is %j', (path, value) => {
  expect(columnReader(path)(object)).toBe(value);
});

test.each([
  '.none.none',
  '.toString',
  '.list[?(@.name=="three")].size',
  // Beyond fields and items: any of these can take long, or reach the same value in several ways.
  '..name',
  '.list[*].name',
  '.list[?(@.size>1)].name',
  '.list[(@.length-1)]',
  '['.repeat(1_000),
])('%s is undefined', (path) => {
  expect(columnReader(path)(object)).toBeUndefined();
});
