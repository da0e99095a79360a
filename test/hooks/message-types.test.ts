import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { messageTypes } from '../generate/message-types.ts';

test('the types of the messages are those of the schemas (else: npm run generate)', async () => {
  const checkedIn = readFileSync(new URL('../../src/hooks/message-types.ts', import.meta.url), 'utf8');
  expect(checkedIn).toBe(await messageTypes());
});
