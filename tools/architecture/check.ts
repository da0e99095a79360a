// The part of `npm run lint` that checks imports: one line per problem, exit code 1 if there is any.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { entryProblems, exceptions, insideProblems, mostInside } from './entries.ts';
import { importProblems } from './imports.ts';
import { layers } from './layers.ts';

const root = new URL('../../', import.meta.url);
const { dependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { dependencies: object };
const problems = [
  ...importProblems(fileURLToPath(new URL('src', root)), layers, Object.keys(dependencies)).map(
    (line) => `src/${line}`,
  ),
  ...entryProblems(fileURLToPath(root), exceptions),
  ...insideProblems(fileURLToPath(root), mostInside),
];
for (const problem of problems) {
  process.stderr.write(`${problem}\n`);
}
process.exitCode = problems.length > 0 ? 1 : 0;
