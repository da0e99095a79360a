import { expect, test } from 'vitest';
import { compilePattern, PatternError } from '../../../src/kubernetes/schema/index.ts';

test('matches patterns in RE2 syntax', () => {
  const pattern = compilePattern('^(?P<word>[a-z]+)\\z');
  expect(['ab', 'a1', ''].map((text) => pattern.test(text))).toEqual([true, false, false]);
  expect(compilePattern('b').test('abc')).toBe(true);
  expect(compilePattern('a{100}').size).toBeGreaterThan(100);
});

test.each([
  ['a(', 'error parsing regexp: missing closing ): `a(`'],
  ['(?=a)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
  ['a{1001}', 'error parsing regexp: invalid repeat count: `{1001}`'],
])('%s is rejected: %s', (source, message) => {
  expect(() => compilePattern(source)).toThrow(new PatternError(message));
});

const tooLarge = 'error parsing regexp: expression too large: it repeats to more than 10000 instructions; repeat less';

// The cost of a pattern shows in how many letters may follow it; a backslash at their end keeps it from being compiled.
test.each([
  ['', 0],
  ['a', 2],
  ['.*', 4],
  ['\\d\\(', 4],
  ['[a-z]', 2],
  ['[]({]', 2],
  ['[^]({]', 2],
  ['()', 2],
  ['(a)b', 6],
  ['((a))', 6],
  ['a)', 4],
  ['(a', 2],
  ['a{3}', 6],
  ['a{0}', 2],
  ['a{3,}', 6],
  ['a{2,15}', 30],
  ['a{10,2}', 20],
  ['ab{1000}', 2002],
  ['a{2}{3}', 12],
  ['(ab){3}c', 20],
  ['(a{2}b){10}', 80],
  ['((a){2}[b]){10}', 120],
  ['(a(b){2}){2}', 24],
  ['a{,3}', 10],
  ['a{12345}', 16],
  ['a{b3}', 10],
  ['\\{3}', 6],
  ['x\\[{3}]', 10],
])('%s counts for %d instructions', (source, size) => {
  const followedBy = (instructions: number) => () => compilePattern(`${source}${'a'.repeat(instructions / 2 - 1)}\\`);
  expect(followedBy(10_000 - size)).toThrow(/^error parsing regexp: (?!expression too large)/);
  expect(followedBy(10_002 - size)).toThrow(new PatternError(tooLarge));
});

test('an unclosed character class takes the rest', () => {
  expect(() => compilePattern(`[${'a'.repeat(20_000)}`)).toThrow('error parsing regexp: missing closing ]');
});

test('patterns that were used lately are not compiled again; those before them are dropped', () => {
  const used = compilePattern('^used$');
  const dropped = compilePattern('^dropped$');
  for (let at = 0; at < 22; at++) {
    // Each is a twentieth of what is kept.
    compilePattern(`^${at}a{996}$`);
    expect(compilePattern('^used$')).toBe(used);
  }
  expect(compilePattern('^dropped$')).not.toBe(dropped);
});

test.each([
  ['long classes', (at: number) => `[${'a'.repeat(2000)}]${at}`],
  ['Unicode classes', (at: number) => `(?i)${'[\\p{L}\\P{N}]'.repeat(10)}${at}`],
])('of patterns with %s, which have few instructions, only some are kept', (_, sourceOf) => {
  const first = compilePattern(sourceOf(100));
  for (let at = 101; at <= 115; at++) {
    compilePattern(sourceOf(at));
  }
  expect(first.size).toBeLessThan(40);
  expect(compilePattern(sourceOf(115))).toBe(compilePattern(sourceOf(115)));
  expect(compilePattern(sourceOf(100))).not.toBe(first);
});

test('a pattern too large to be kept leaves the others in place', () => {
  const used = compilePattern('^kept$');
  const large = `[${'b'.repeat(100_000)}]`;
  expect(compilePattern(large)).not.toBe(compilePattern(large));
  expect(compilePattern('^kept$')).toBe(used);
});
