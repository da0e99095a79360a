import { readFileSync } from 'node:fs';
import { rules } from '../../src/rules/index.ts';

/** The README, whose generated parts stand between `<!-- NAME -->` and `<!-- /NAME -->`. */
export const readmeFile = new URL('../../README.md', import.meta.url);

function rulesTable(): string {
  const rows = rules.map(
    ({ id, severity, upstream, summary }) =>
      `| \`${id}\` | ${severity} | ${upstream ? 'upstream, strict' : 'strict'} | ${summary.replaceAll('|', '\\|')} |`,
  );
  return ['| rule | severity | profile | what it checks |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

const parts: Record<string, () => string> = { rules: rulesTable };

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
