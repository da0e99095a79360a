import { expect, test } from 'vitest';
import { splitDocuments } from '../../../src/kubernetes/manifests/index.ts';

/** Line and text of each document; for an invalid one, its line and the error. */
function split(text: string): [number, string][] {
  return [...splitDocuments(text)].map((part) => {
    if ('error' in part) {
      return [part.line, `error: ${part.error}`];
    }
    expect(text.slice(part.start, part.start + part.text.length)).toBe(part.text);
    return [part.firstLine, part.text];
  });
}

const notRead = 'error: kubectl ignores what follows "..."; write "---" before it';
const marker = 'error: kubectl accepts only a comment after "---"; begin the document on the next line';
const notJson = 'error: kubectl reads a file that begins with "{" as JSON and accepts only a sequence of objects in it';

test.each<[string, string, [number, string][]]>([
  ['an empty text', '', []],
  ['only comments', '# a\n\n# b\n', []],
  ['one document', 'a: 1\n', [[1, 'a: 1\n']]],
  ['no newline at the end', 'a: 1', [[1, 'a: 1']]],
  ['a leading marker', '---\na: 1\n', [[2, 'a: 1\n']]],
  [
    'two documents',
    'a: 1\n---\nb: 2\n',
    [
      [1, 'a: 1\n'],
      [3, 'b: 2\n'],
    ],
  ],
  [
    'a comment after the marker',
    'a: 1\n--- # b\nb: 2\n',
    [
      [1, 'a: 1\n'],
      [3, 'b: 2\n'],
    ],
  ],
  [
    'content after the marker',
    '--- {a: 1}\n---\nb: 2',
    [
      [1, marker],
      [3, 'b: 2'],
    ],
  ],
  [
    'lines after such a marker',
    'a: 1\n--- {a: 1}\nb: 2\n---\nc: 3',
    [
      [1, 'a: 1\n'],
      [2, marker],
      [5, 'c: 3'],
    ],
  ],
  [
    'four dashes',
    'a: 1\n----\nb: 2',
    [
      [1, 'a: 1\n'],
      [2, marker],
    ],
  ],
  ['an indented marker in a block scalar', 'a: |\n  ---\n  b\n', [[1, 'a: |\n  ---\n  b\n']]],
  [
    'an end marker and a document',
    'a: 1\n...\n---\nb: 2\n',
    [
      [1, 'a: 1\n...\n'],
      [4, 'b: 2\n'],
    ],
  ],
  [
    'an end marker and text',
    'a: 1\n...\nb: 2\n---\nc: 3',
    [
      [1, 'a: 1\n...\n'],
      [3, notRead],
      [5, 'c: 3'],
    ],
  ],
  ['an end marker and comments', 'a: 1\n... # b\n# c\n', [[1, 'a: 1\n... # b\n# c\n']]],
  [
    'carriage returns',
    'a: 1\r\n---\r\nb: 2\r\n',
    [
      [1, 'a: 1\r\n'],
      [3, 'b: 2\r\n'],
    ],
  ],
  ['empty documents', '---\n---\n\n# c\n---\na: 1\n', [[6, 'a: 1\n']]],
  ['a byte order mark', '\ufeffa: 1\n', [[1, '\ufeffa: 1\n']]],
  ['only a byte order mark', '\ufeff\n', []],
  ['a JSON document', '{\n"a": "---"\n}\n', [[1, '{\n"a": "---"\n}']]],
  [
    'JSON documents',
    ' {"a": "}{\\""}{"b":\n1}\n{}',
    [
      [1, '{"a": "}{\\""}'],
      [1, '{"b":\n1}'],
      [3, '{}'],
    ],
  ],
  [
    'JSON and a marker',
    '{}\n---\n{}',
    [
      [1, '{}'],
      [2, notJson],
    ],
  ],
  ['JSON without an end', '{"a": [', [[1, '{"a": [']]],
  ['JSON without the end of a string', '{"a\\\\": "\\"}', [[1, '{"a\\\\": "\\"}']]],
])('%s', (_, text, documents) => {
  expect(split(text)).toEqual(documents);
});

test.each([
  ['a document', () => `a: 1\n---\n${`b: ${'x'.repeat(2 ** 19)}\n`.repeat(32)}---\nc: 3`, [1, 3, 36]],
  ['a line', () => `a: 1\n---\n${'x'.repeat(2 ** 24)}\n---\nc: 3`, [1, 3, 5]],
  ['JSON', () => `{}{"a":"${'x'.repeat(2 ** 26 - 7)}"}{}`, [1, 1, 1]],
])('%s over the limit is an error, and the rest is read', (_, textOf, lines) => {
  const parts = split(textOf());
  expect(parts.map(([line]) => line)).toEqual(lines);
  expect(parts[1]?.[1]).toMatch(/^error: a document is larger than (?:16777216|67108864) characters; /);
});

test('a document may have the maximum length', () => {
  expect([...splitDocuments(`a: ${'x'.repeat(2 ** 24 - 3)}`)]).toEqual([expect.objectContaining({ form: 'yaml' })]);
});
