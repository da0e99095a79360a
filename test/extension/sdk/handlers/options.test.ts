import { expect, test } from 'vitest';
import { requestFor } from '../../../../src/extension/index.ts';
import { checkKey, checkNumber } from '../../../../src/extension/sdk/handlers/options.ts';

const long = Array.from({ length: 100 }, (_, index) => index);

test.each<[string, () => void, string]>([
  ['a key', () => checkKey(long), 'is not a text that identifies the work'],
  ['a number', () => checkNumber('port', long as never, { min: 0, max: 1 }), 'is not a number from 0 to 1'],
  ['a hook', () => requestFor('x'.repeat(1_000) as 'BeforeClusterCreate'), 'is not a hook: pass'],
])('of %s that is none, the message shows 100 characters', (_name, check, message) => {
  let shown = '';
  try {
    check();
  } catch (error) {
    shown = (error as Error).message;
  }
  expect(shown).toContain(message);
  expect(shown.indexOf(message)).toBeLessThanOrEqual('port: '.length + 100 + '"" '.length);
});
