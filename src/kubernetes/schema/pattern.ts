import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

export interface Pattern {
  /** Whether it matches anywhere in a text, in time linear in the length of the text times `size`. */
  test(text: string): boolean;
  size: number;
  expression: RE2JS;
}

/** Why a pattern cannot be used, worded as by Go's regexp. */
export class PatternError extends Error {}

/** Largest compiled pattern, in instructions, each of which takes some 10 µs to compile. */
const maxSize = 10_000;

/** An upper bound for the instructions that a pattern compiles to: a group counts as often as it is repeated. */
function sizeOf(source: string): number {
  const open = [0];
  let last = 0;
  for (let at = 0; at < source.length; at++) {
    const char = source[at] as string;
    const repeat = char === '{' ? /^\{(\d{1,4})(?:,(\d{0,4}))?\}/.exec(source.slice(at, at + 12)) : null;
    if (repeat !== null) {
      const times = Math.max(Number(repeat[1]), Number(repeat[2] || 0), 1);
      open[open.length - 1] = (open.at(-1) ?? 0) + last * (times - 1);
      last *= times;
      at += repeat[0].length - 1;
    } else if (char === '(') {
      open.push(0);
    } else if (char === ')' && open.length > 1) {
      last = (open.pop() ?? 0) + 2;
      open[open.length - 1] = (open.at(-1) ?? 0) + last;
    } else {
      if (char === '\\') {
        at++;
      } else if (char === '[') {
        // A closing bracket in first position is a literal.
        const end = source.indexOf(']', at + (source[at + 1] === '^' ? 3 : 2));
        at = end === -1 ? source.length : end;
      }
      last = 2;
      open[open.length - 1] = (open.at(-1) ?? 0) + last;
    }
  }
  return open.reduce((sum, size) => sum + size, 0);
}

/** Maximum weight of all compiled patterns that are kept: less than ten megabytes. */
const maxKept = 20_000;

/** Compiled patterns by source: definitions repeat theirs, and compiling takes tens of times longer than matching. */
const compiledPatterns = new LRUCache<string, Pattern>({
  maxSize: maxKept,
  sizeCalculation: ({ size }, source) => size + source.length + 100 * (source.match(/\\p/gi)?.length ?? 0),
});

/** Compiles a pattern, unless it was used lately. @throws {PatternError} when it is not valid RE2 syntax, or too large. */
export function compilePattern(source: string): Pattern {
  const known = compiledPatterns.get(source);
  if (known !== undefined) {
    return known;
  }
  if (sizeOf(source) > maxSize) {
    throw new PatternError(
      `error parsing regexp: expression too large: it repeats to more than ${maxSize} instructions; repeat less`,
    );
  }
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    throw new PatternError((error as Error).message);
  }
  const pattern: Pattern = { test: (text) => compiled.test(text), size: compiled.programSize(), expression: compiled };
  compiledPatterns.set(source, pattern);
  return pattern;
}
