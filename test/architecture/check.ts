// The part of `npm run lint` that checks imports: one line per problem, exit code 1 if there is any.
import { fileURLToPath } from 'node:url';
import { importProblems } from './imports.ts';
import { rooms } from './rooms.ts';

const problems = importProblems(fileURLToPath(new URL('../../src', import.meta.url)), rooms);
for (const problem of problems) {
  process.stderr.write(`src/${problem}\n`);
}
process.exitCode = problems.length > 0 ? 1 : 0;
