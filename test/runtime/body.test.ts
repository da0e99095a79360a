import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readFirstValue } from '../../src/runtime/body.ts';
import { collectGarbage } from '../tools/collect-garbage.ts';

const json = (length: number) => Buffer.from(`{"a":"${'x'.repeat(length - 8)}"}`);

test.each([1, 7, 1000, 100_000])('a response in chunks of %d bytes is assembled', async (size) => {
  const lengths = [8, 16 * 1024 + 1];
  // Chunks of more than a byte take less time; more single bytes are read below.
  for (const length of size === 1 ? lengths : [...lengths, 16 * 1024 - 1, 16 * 1024, 50_000]) {
    const text = json(length);
    function* pieces() {
      for (let at = 0; at < text.length; at += size) {
        // Only the chunk belongs to the reader: the rest of its memory is reused.
        yield text.subarray(at, at + size);
      }
    }
    const read = await readFirstValue(Readable.from(pieces()), 50_000);
    expect(read?.equals(text)).toBe(true);
    expect(await readFirstValue(Readable.from(pieces()), length - 1)).toBeUndefined();
  }
});

test('a response in single bytes takes little more memory than the response', async () => {
  const length = 50_000;
  const text = json(length);
  const used = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  let taken = 0;
  async function* bytes() {
    const before = used();
    for (let at = 0; at < text.length; at++) {
      yield text.subarray(at, at + 1);
      if (at % 10_000 === 0) {
        // As between two reads from a socket.
        await setImmediate();
      }
    }
    await setImmediate();
    taken = used() - before;
  }
  expect((await readFirstValue(Readable.from(bytes()), length))?.equals(text)).toBe(true);
  expect(taken).toBeLessThan(20 * length);
});
