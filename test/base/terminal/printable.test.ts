import { expect, test } from 'vitest';
import { printable, printableJson, printableLines, withoutControls } from '../../../src/base/index.ts';
import { isPrintableYaml } from '../../../src/base/terminal/printable.ts';

/** Characters that move or replace what is next to them on a terminal, each with its escape. */
const harmful = [
  // One character that some terminals take for ESC [.
  ['\u009b', '\\u009b'],
  ['\u061c', '\\u061c'],
  ['\u200e', '\\u200e'],
  ['\u200f', '\\u200f'],
  ['\u2028', '\\u2028'],
  ['\u202e', '\\u202e'],
  ['\u2066', '\\u2066'],
] as const;

test.each([
  ['secrets "x" not found', 'secrets "x" not found'],
  ['größer, 日本語, 👍', 'größer, 日本語, 👍'],
  ['\u001b[2Jgone\u0007', '\\u001b[2Jgone\\u0007'],
  ['a\nb\r\tc', 'a\\u000ab\\u000d\\u0009c'],
  ...harmful.map(([character, escaped]): [string, string] => [`a${character}b${character}`, `a${escaped}b${escaped}`]),
  // Commands to the runner of a workflow.
  ['##[group] ##vso[task] # ##a', '#\\u0023[group] #\\u0023vso[task] # ##a'],
  ['x'.repeat(1000), 'x'.repeat(1000)],
  ['x'.repeat(1001), `${'x'.repeat(1000)}…`],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('control characters become escapes in text of any length', () => {
  expect(withoutControls(`${'x'.repeat(5000)}\u001b[2J\u200f`)).toBe(`${'x'.repeat(5000)}\\u001b[2J\\u200f`);
});

test('lines keep their breaks and tabs, not a carriage return of its own', () => {
  expect(printableLines('a\u001b\n\tb\r\nc\rd')).toBe('a\\u001b\n\tb\r\nc\\u000dd');
});

test.each([
  ...harmful.map(([character]) => character),
  '##[',
  '##vso[',
  '\n',
  '\u001b',
])('JSON means the same with %j in a text', (text) => {
  const json = printableJson({ text: `a${text}b` });
  expect(JSON.parse(json)).toEqual({ text: `a${text}b` });
  expect(json).not.toContain(text);
  expect(printableJson([text], 1)).toBe(`[\n ${printableJson(text)}\n]`);
});

test.each<[string, boolean]>([
  ['a: 1\n# b ##\n', true],
  ['a: ##[group]\n', false],
  ['##vso[task]\n', false],
  ...harmful.map(([character]): [string, boolean] => [`a: "${character}"\n`, false]),
])('whether %j may be printed as YAML: %j', (text, expected) => {
  expect(isPrintableYaml(text)).toBe(expected);
});
