import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { readLimited } from '../../../src/base/index.ts';

test('reads a whole stream, up to its limit', async () => {
  const stream = () => Readable.from([Buffer.from('12'), '34']);
  expect((await readLimited(stream(), 4))?.toString()).toBe('1234');
  const longer = stream();
  expect(await readLimited(longer, 3)).toBeUndefined();
  expect(longer.destroyed).toBe(true);
});

const json = (length: number) => Buffer.from(`{"a":"${'x'.repeat(length - 8)}"}`);

test.each([7, 1000, 100_000])('a stream in chunks of %d bytes is assembled', async (size) => {
  for (const length of [8, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 33_000]) {
    const text = json(length);
    function* pieces() {
      for (let at = 0; at < text.length; at += size) {
        // Only the chunk belongs to the reader: the rest of its memory is reused.
        yield text.subarray(at, at + size);
      }
    }
    const read = await readLimited(Readable.from(pieces()), 50_000);
    expect(read?.equals(text)).toBe(true);
    expect(await readLimited(Readable.from(pieces()), length - 1)).toBeUndefined();
  }
});

// A list of chunks would take some 30 times their size if a server sends single bytes.
test.each<[string, limit: number, pieces: number[], buffers: number[]]>([
  ['that fits', 50_000, [10_000, 6_384], [16_384]],
  ['that has a byte more', 50_000, [16_384, 1], [16_384, 32_768]],
  ['in small pieces', 50_000, Array(50).fill(1000), [16_384, 32_768, 50_000]],
  ['with a large piece', 50_000, [10_000, 30_000], [16_384, 40_000]],
  ['of at most some bytes', 100, [60, 40], [100]],
])('the buffer of a stream doubles, up to what it may be at most: one %s', async (_, limit, pieces, buffers) => {
  const text = json(pieces.reduce((sum, size) => sum + size));
  let at = 0;
  const chunks = pieces.map((size) => {
    at += size;
    return text.subarray(at - size, at);
  });
  const allocate = vi.spyOn(Buffer, 'allocUnsafeSlow');
  try {
    const read = await readLimited(Readable.from(chunks), limit);
    expect(read?.equals(text)).toBe(true);
    expect(allocate.mock.calls).toEqual(buffers.map((size) => [size]));
  } finally {
    allocate.mockRestore();
  }
});
