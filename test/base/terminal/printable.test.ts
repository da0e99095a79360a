import { expect, test } from 'vitest';
import { printable, withoutControls } from '../../../src/base/index.ts';

test.each([
  ['secrets "x" not found', 'secrets "x" not found'],
  ['größer, 日本語, 👍', 'größer, 日本語, 👍'],
  ['\u001b[2Jgone\u0007', '\\u001b[2Jgone\\u0007'],
  ['a\nb\r\tc', 'a\\u000ab\\u000d\\u0009c'],
  // One character that some terminals take for ESC [.
  ['\u009b31m', '\\u009b31m'],
  ['safe\u202egnp.exe\u2028', 'safe\\u202egnp.exe\\u2028'],
  // Directional marks: they move what is next to them.
  ['a\u061cb\u200ec\u200fd', 'a\\u061cb\\u200ec\\u200fd'],
  ['x'.repeat(1001), `${'x'.repeat(1000)}…`],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('control characters become escapes in text of any length', () => {
  expect(withoutControls(`${'x'.repeat(5000)}\u001b[2J\u200f`)).toBe(`${'x'.repeat(5000)}\\u001b[2J\\u200f`);
});
