import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8');

/** The messages of the log of `serve`, as its source has them: the strings in calls of a log, after the fields. */
function messagesIn(source: string): string[] {
  const calls = [...source.matchAll(/\blog(?:Some)?(?:\.(?:info|warn|error)|\[level\])?\((.*?)\);\n/gs)];
  const tables = [...source.matchAll(/^const messages = \{(.*?)\}/gms)];
  const texts = [...calls.map(([, text]) => text?.replace(/^\s*\{.*?\},/s, '')), ...tables.map(([, text]) => text)];
  return texts.flatMap((text) =>
    [...(text ?? '').matchAll(/(=== )?'([^'\n]+)'/g)].flatMap(([, compared, literal]) =>
      compared === undefined ? [String(literal)] : [],
    ),
  );
}

test('the table of the log has each message of serve, and no other', () => {
  const files = globSync(['src/server/**/*.ts', 'src/webhook/reviews/*.ts', 'src/cli/commands/serve.ts'], {
    cwd: root,
  });
  const messages = new Set(files.flatMap((file) => messagesIn(textOf(file))));
  const [, table = ''] = /^## What the log says$(.*?)^## /ms.exec(textOf('docs/operations.md')) ?? [];
  const listed = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell]) =>
    [...String(cell).matchAll(/`([^`]+)`/g)].map(([, message]) => String(message)),
  );
  expect(listed.toSorted()).toEqual([...messages].toSorted());
});
