import { expect, test } from 'vitest';
import { jsonSyntaxError, quoted, textOf } from '../../../src/base/go-text/index.ts';

const syntaxError = (text: string) => jsonSyntaxError(Buffer.from(text).toString('latin1'), 'EOF');

// The texts are those of Go 1.26: `json.NewDecoder(body).Decode(&value)`. Other mistakes it describes more closely.
test.each<[string, string | undefined]>([
  ['', 'EOF'],
  [' \n', 'EOF'],
  ['<html>', "invalid character '<' looking for beginning of value"],
  ["'", "invalid character '\\'' looking for beginning of value"],
  [' ]', "invalid character ']' looking for beginning of value"],
  ['{', 'EOF'],
  ['{"a"', 'EOF'],
  ['{"é":1', 'EOF'],
  ['"a', 'EOF'],
  ['-', 'EOF'],
  ['[1,', 'EOF'],
  ['{x', undefined],
  ['{"a" 1}', undefined],
  ['[1 2]', undefined],
  ['{"a":[{},[1,-2.5e+3,"\\u00e9\\n",true,false,null]]}', undefined],
])('%j: %s', (text, problem) => {
  expect(syntaxError(text)).toBe(problem);
});

test('a large body takes linear time, however deep it is', () => {
  expect(syntaxError('['.repeat(200_000))).toBe('EOF');
  expect(syntaxError(`"${'\\n'.repeat(200_000)}`)).toBe('EOF');
});

test.each<[string | Buffer, string]>([
  ['404 page not found\n', '"404 page not found\\n"'],
  ['a "quote" \\', '"a \\"quote\\" \\\\"'],
  ['\u0000\u001b\u007f', '"\\x00\\x1b\\x7f"'],
  ['é 中 😀', '"é 中 😀"'],
  ['\u00a0\u200b\u202e\u{e0001}', '"\\u00a0\\u200b\\u202e\\U000e0001"'],
  [Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]), '"\\xff\\xc3(\\xed\\xa0\\x80"'],
])('%j is quoted as by Go', (text, expected) => {
  expect(textOf(quoted(Buffer.from(text as string).toString('latin1')))).toBe(expected);
});
