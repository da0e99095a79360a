import { expect, test } from 'vitest';
import { jsonMistake, jsonSyntaxError, quoted, textOf } from '../../../src/base/go-text/index.ts';

/** What is wrong, where the text does not end too early. */
function syntaxError(text: string): string | undefined {
  const bytes = Buffer.from(text).toString('latin1');
  const mistake = jsonMistake(bytes, false);
  const character = mistake && bytes[mistake.at];
  return mistake && (character === undefined ? 'EOF' : jsonSyntaxError(character, mistake.place));
}

// The texts are those of Go 1.26: `json.NewDecoder(body).Decode(&value)`.
test.each<[string, string | undefined]>([
  ['', 'EOF'],
  [' \n', 'EOF'],
  ['<html>', "invalid character '<' looking for beginning of value"],
  ["'", "invalid character '\\'' looking for beginning of value"],
  [']', "invalid character ']' looking for beginning of value"],
  ['{', 'EOF'],
  ['{"a"', 'EOF'],
  ['"a', 'EOF'],
  ['-', 'EOF'],
  ['{x', "invalid character 'x' looking for beginning of object key string"],
  ['{]', "invalid character ']' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
  ['[}', "invalid character '}' looking for beginning of value"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['[1 2]', "invalid character '2' after array element"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['-a', "invalid character 'a' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['trux', "invalid character 'x' in literal true (expecting 'e')"],
  ['{"a":[{},[1,-2.5e+3,"\\u00e9\\n",true,false,null]]} tail', undefined],
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
