import { expect, test } from 'vitest';
import { warningHeaders } from '../../../src/sandbox/http/http.ts';

/** The warnings that a response has after these texts. */
function shownFor(texts: readonly string[]): string[] {
  return (warningHeaders(texts).Warning ?? []).map((line) => line.slice('299 - "'.length, -1));
}

test('each text is shown once, in one line, with its quotes escaped', () => {
  expect(shownFor(['a\r\n\tb', ' a b ', '', '"\\'])).toEqual(['a b', '\\"\\\\']);
});

test('control characters and direction marks, which headers cannot have or terminals obey, are escaped', () => {
  const texts = ['\u0000', '\u001b[31m', 'a\u007f', '\u0085', '\u200f\u202e', 'a\u2028\u2029b', 'größe 日本'];
  const utf8 = shownFor(texts).map((text) => Buffer.from(text, 'latin1').toString());
  expect(utf8).toEqual(
    ['\\u0000', '\\u001b[31m', 'a\\u007f', '\\u0085', '\\u200f\\u202e', 'a\\u2028\\u2029b', 'größe 日本'].map((text) =>
      text.replaceAll('\\', '\\\\'),
    ),
  );
});

test('texts of 4,096 characters together are shown whole, beyond that all are cut', () => {
  const [long, other] = ['a'.repeat(4000), 'b'.repeat(96)];
  expect(shownFor([long, other])).toEqual([long, other]);
  expect(shownFor([long, other, 'c'])).toEqual([long.slice(0, 256), other, 'c']);
});

test('texts that are equal once they are cut do not use up the room of others', () => {
  const equal = Array.from({ length: 100 }, (_, index) => `${'a'.repeat(256)}${index}`);
  expect(shownFor([...equal, 'the last'])).toEqual(['a'.repeat(256), 'the last']);
});

test('what does not fit is left out', () => {
  const texts = Array.from({ length: 100 }, (_, index) => `${index} `.padEnd(300, 'x'));
  const shown = shownFor([...texts, 'short']);
  expect(shown).toEqual(texts.slice(0, 16).map((text) => text.slice(0, 256)));
});
