import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { hookMessages, messageTypes } from '../../../tools/generate/message-types.ts';

/**
 * The syntax tree and the comments of a source, however it is formatted: formatting it takes longer than everything
 * else.
 */
function said(source: string): unknown {
  const { program, comments } = parseSync('types.ts', source, { preserveParens: false });
  // Positions, and quotes of literals.
  const formatting = new Set(['start', 'end', 'raw']);
  return {
    code: JSON.parse(JSON.stringify(program.body, (key, value) => (formatting.has(key) ? undefined : value))),
    comments: comments.map(({ value }) => value.trim().split(/\s+/)),
  };
}

test.each([
  ['message-types/index.ts', () => messageTypes({ format: false })],
  ['catalog/definitions/hook-messages.ts', hookMessages],
])('%s has the types of the schemas (else: npm run generate)', async (file, generate) => {
  const checkedIn = readFileSync(new URL(`../../../src/runtimehooks/${file}`, import.meta.url), 'utf8');
  expect(said(checkedIn)).toEqual(said(await generate()));
});
