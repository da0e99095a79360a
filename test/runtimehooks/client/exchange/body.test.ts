import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readBeginning, unpacked } from '../../../../src/runtimehooks/client/exchange/connections.ts';

test('of an error response no more is read than its beginning', async () => {
  const body = new PassThrough();
  body.write('01234');
  body.write('56789');
  expect(String(await readBeginning(body, 10))).toBe('0123456789');
  expect(body.destroyed).toBe(true);
});

test('what gzip cannot make shorter is unpacked, whatever its length', async () => {
  const bytes = randomBytes(256 * 1024);
  const packed = gzipSync(bytes);
  function* chunks() {
    for (let at = 0; at < packed.length; at += 16 * 1024) {
      yield packed.subarray(at, at + 16 * 1024);
    }
  }
  expect((await buffer(unpacked(Readable.from(chunks()), 'GZIP'))).equals(bytes)).toBe(true);
});
