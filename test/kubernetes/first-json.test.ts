import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFirstJsonScanner } from '../../src/kubernetes/index.ts';

test('the end of the first array or object is found, whatever its pieces', () => {
  const nested = fc.jsonValue().map((value) => JSON.stringify({ '"}\\': value }));
  fc.assert(
    fc.property(nested, fc.string(), fc.array(fc.nat(40), { maxLength: 20 }), (first, rest, cuts) => {
      const bytes = Buffer.from(first + rest);
      const scanner = createFirstJsonScanner();
      let [from, end] = [0, -1];
      for (const length of [...cuts, bytes.length]) {
        const found = scanner.scan(bytes.subarray(from, from + length));
        end = found === undefined ? end : from + found;
        from += length;
      }
      expect(end).toBe(Buffer.byteLength(first));
      expect(scanner.hasEnded).toBe(true);
    }),
  );
});

test.each(['', ' ', 'null', '12', '"{}"', '{"a":"}', '{"a":"\\"}', '[[]'])('%j has no such end', (text) => {
  const scanner = createFirstJsonScanner();
  expect(scanner.scan(Buffer.from(text))).toBeUndefined();
  expect(scanner.hasEnded).toBe(false);
});
