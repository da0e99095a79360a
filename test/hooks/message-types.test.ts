import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { messageTypes } from '../generate/message-types.ts';

/** What a source says, in code and comments, however it is formatted: to format it takes longer than all else. */
function said(source: string): unknown {
  const { program, comments } = parseSync('types.ts', source, { preserveParens: false });
  // Where it stands, and in which quotes.
  const formatting = new Set(['start', 'end', 'raw']);
  return {
    code: JSON.parse(JSON.stringify(program.body, (key, value) => (formatting.has(key) ? undefined : value))),
    comments: comments.map(({ value }) => value.trim().split(/\s+/)),
  };
}

test('the types of the messages are those of the schemas (else: npm run generate)', async () => {
  const checkedIn = readFileSync(new URL('../../src/hooks/message-types.ts', import.meta.url), 'utf8');
  expect(said(checkedIn)).toEqual(said(await messageTypes({ format: false })));
});
