import { readFileSync } from 'node:fs';
import { rules } from '../../src/rules/index.ts';
import { readImports, roomImports } from '../architecture/imports.ts';
import { rooms } from '../architecture/rooms.ts';

/** The README, whose generated parts stand between `<!-- NAME -->` and `<!-- /NAME -->`. */
export const readmeFile = new URL('../../README.md', import.meta.url);

function rulesTable(): string {
  const rows = rules.map(
    ({ id, severity, upstream, summary }) =>
      `| \`${id}\` | ${severity} | ${upstream ? 'upstream, strict' : 'strict'} | ${summary.replaceAll('|', '\\|')} |`,
  );
  return ['| rule | severity | profile | what it checks |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function roomsTable(): string {
  const imports = roomImports(readImports(new URL('../../src', import.meta.url).pathname));
  const rows = rooms.map(({ name, knows }) => {
    const imported = rooms.filter((other) => imports.get(name)?.has(other.name)).map((other) => other.name);
    return `| \`${name}/\` | ${knows} | ${imported.join(', ') || '–'} |`;
  });
  return ['| room | knows | imports |', '| --- | --- | --- |', ...rows].join('\n');
}

const parts: Record<string, () => string> = { rules: rulesTable, rooms: roomsTable };

/** The README's text with its generated parts made anew. */
export function generatedReadme(): string {
  return Object.entries(parts).reduce(
    (text, [name, make]) => {
      const [before, rest] = text.split(`<!-- ${name} -->`);
      const after = rest?.split(`<!-- /${name} -->`)[1];
      if (before === undefined || after === undefined) {
        throw new Error(`README.md has no part <!-- ${name} --> … <!-- /${name} -->`);
      }
      return `${before}<!-- ${name} -->\n\n${make()}\n\n<!-- /${name} -->${after}`;
    },
    readFileSync(readmeFile, 'utf8'),
  );
}
