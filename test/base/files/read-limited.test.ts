import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readLimited } from '../../../src/base/index.ts';

test('reads a whole stream, up to its limit', async () => {
  const stream = () => Readable.from([Buffer.from('12'), '34']);
  expect((await readLimited(stream(), 4))?.toString()).toBe('1234');
  const longer = stream();
  expect(await readLimited(longer, 3)).toBeUndefined();
  expect(longer.destroyed).toBe(true);
});
