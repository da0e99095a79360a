import { expect, test } from 'vitest';
import { SplitError, splitDocuments } from '../../src/lint/split.ts';

async function split(chunks: (string | Uint8Array)[], limit?: number) {
  async function* stream() {
    yield* chunks;
  }
  const found: [number, string][] = [];
  for await (const { text, firstLine } of splitDocuments(stream(), limit)) {
    found.push([firstLine, text]);
  }
  return found;
}

test.each<[string, string, [number, string][]]>([
  ['nothing', '', []],
  ['only comments', '# a\n\n# b\n', []],
  ['one document', 'a: 1\n', [[1, 'a: 1\n']]],
  ['no newline at the end', 'a: 1', [[1, 'a: 1']]],
  ['a marker in front', '---\na: 1\n', [[1, '---\na: 1\n']]],
  [
    'two documents',
    'a: 1\n---\nb: 2\n',
    [
      [1, 'a: 1\n'],
      [2, '---\nb: 2\n'],
    ],
  ],
  [
    'a comment behind the marker',
    'a: 1\n--- # b\nb: 2\n',
    [
      [1, 'a: 1\n'],
      [2, '--- # b\nb: 2\n'],
    ],
  ],
  [
    'content behind the marker',
    '--- {a: 1}\n--- {b: 2}\n',
    [
      [1, '--- {a: 1}\n'],
      [2, '--- {b: 2}\n'],
    ],
  ],
  ['an indented marker in a block scalar', 'a: |\n  ---\n  b\n', [[1, 'a: |\n  ---\n  b\n']]],
  ['dashes that are no marker', 'a: 1\n----\n---b: 2\n', [[1, 'a: 1\n----\n---b: 2\n']]],
  [
    'an end marker and a directive',
    'a: 1\n...\n%YAML 1.2\n---\nb: 2\n',
    [
      [1, 'a: 1\n...\n'],
      [3, '%YAML 1.2\n---\nb: 2\n'],
    ],
  ],
  [
    'carriage returns',
    'a: 1\r\n---\r\nb: 2\r\n',
    [
      [1, 'a: 1\r\n'],
      [2, '---\r\nb: 2\r\n'],
    ],
  ],
  [
    'empty documents',
    '---\n---\n---\na: 1\n',
    [
      [1, '---\n'],
      [2, '---\n'],
      [3, '---\na: 1\n'],
    ],
  ],
  ['a JSON document', '{\n"a": "---"\n}\n', [[1, '{\n"a": "---"\n}\n']]],
])('%s', async (_, text, documents) => {
  expect(await split([text])).toEqual(documents);
  // However the stream is cut, the documents are the same.
  expect(await split([...text])).toEqual(documents);
  expect(await split([...Buffer.from(text)].map((byte) => Buffer.from([byte])))).toEqual(documents);
});

test('a character that two chunks share', async () => {
  const bytes = Buffer.from('a: ü\n');
  expect(await split([bytes.subarray(0, 4), bytes.subarray(4)])).toEqual([[1, 'a: ü\n']]);
});

test('a byte order mark is no content', async () => {
  expect(await split([Buffer.from('\ufeffa: 1\n')])).toEqual([[1, 'a: 1\n']]);
});

test.each<[string, (string | Uint8Array)[], number]>([
  ['bytes that are no UTF-8', [Buffer.from('a: 1\nb: '), Buffer.from([0xff])], 2],
  ['a cut character at the end', [Buffer.from('a: 1\n'), Buffer.from([0xc3])], 2],
  ['a document over the limit', ['a: 1\n---\n', 'b: 2\n'.repeat(10)], 2],
  ['a line without end', ['a: 1\n', 'x'.repeat(50)], 1],
])('%s: an error with its line', async (_, chunks, line) => {
  const error = await split(chunks, 40).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(SplitError);
  expect((error as SplitError).line).toBe(line);
});
