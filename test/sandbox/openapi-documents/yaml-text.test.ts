import { expect, test } from 'vitest';
import type { Json } from '../../../src/kubernetes/index.ts';
import { yamlText } from '../../../src/sandbox/openapi-documents/yaml-text.ts';

test.each<[Json, string]>([
  [true, 'true\n'],
  [false, 'false\n'],
  [null, 'null\n'],
  [1, '1\n'],
  ['abc', 'abc\n'],
  ['io.k8s.api-x', 'io.k8s.api-x\n'],
  ['ab', 'ab\n'],
  ['true', '"true"\n'],
  ['NULL', '"NULL"\n'],
  ['Yes', '"Yes"\n'],
  ['off', '"off"\n'],
  ['1_000', '"1_000"\n'],
  ['', '""\n'],
  ['<<', '"<<"\n'],
  [{ '<<': 1 }, '{"<<":1}\n'],
  ['a\u2028b', '"a\\u2028b"\n'],
  ['\u0085', '"\\u0085"\n'],
  ['\ufeffa', '"\\ufeffa"\n'],
  ['a\nb', '"a\\nb"\n'],
  [{ a: ' b\nc' }, '{"a":" b\\nc"}\n'],
  [{ a: 'b\nc\n' }, 'a: |\n    b\n    c\n'],
  // Within an item of a list, the next block begins two columns further, as Go's yaml.v3 writes it.
  [[{ a: 1, b: [2] }], '- a: 1\n  b:\n    - 2\n'],
  [
    { a: [{ b: { c: [{ d: 'x\ny' }] } }] },
    'a:\n    - b:\n        c:\n            - d: |-\n                x\n                y\n',
  ],
  [[{ a: { b: 1 }, c: {} }, [], [[1], 2]], '- a:\n    b: 1\n  c: {}\n- []\n- - - 1\n  - 2\n'],
  [[{ a: 'b\nc' }], '- a: |-\n    b\n    c\n'],
  [{ 'a: b': [{ yes: 'no' }] }, '"a: b":\n    - "yes": "no"\n'],
  [{ a: { b: 'x' } }, 'a:\n    b: x\n'],
])('%j', (value, expected) => {
  expect(yamlText(value)).toBe(expected);
});

test('equal values have no anchors, and long lines stay one', () => {
  const shared = { a: 1 };
  expect(yamlText([shared, shared])).toBe('- a: 1\n- a: 1\n');
  const long = 'word '.repeat(60).trim();
  expect(yamlText([long])).toBe(`- ${long}\n`);
});
