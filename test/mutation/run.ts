// npm run test:mutation -- ROOM [PATTERN...]: seeds faults into a room and says which of them no test notices.
import { relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { mutationRooms } from './rooms.ts';

/** The share of faults that tests must notice, in percent. */
const wanted = 85;

const [name = '', ...patterns] = process.argv.slice(2);
const room = mutationRooms[name];
if (room === undefined) {
  process.stderr.write(`usage: npm run test:mutation -- ${Object.keys(mutationRooms).join('|')} [PATTERN...]\n`);
  process.exit(2);
}

process.env.MUTATION_TESTS = JSON.stringify(room.tests);
const results = await new Stryker({
  mutate: patterns.length > 0 ? patterns : [...room.mutate],
  testRunner: 'in-process',
  // Mutants in module scope need a fresh run of all tests each: mostly texts, which the tests of the examples check.
  ignoreStatic: true,
  // Stryker rewrites a tsconfig.json with an API that TypeScript 7 does not have; no file, no rewriting.
  tsconfigFile: 'test/mutation/no-tsconfig.json',
  concurrency: Number(process.env.MUTATION_CONCURRENCY ?? 2),
  ignorePatterns: ['docs', 'dist', 'coverage', '.stryker-tmp*'],
  tempDirName: `.stryker-tmp-${name}`,
  reporters: ['progress'],
  plugins: [new URL('./in-process.ts', import.meta.url).href],
  allowConsoleColors: process.stdout.isTTY === true,
}).runMutationTest();

const has = (...statuses: readonly string[]) => results.filter(({ status }) => statuses.includes(status));
const detected = has('Killed', 'Timeout').length;
const missed = has('Survived', 'NoCoverage');
for (const { fileName, location, mutatorName, replacement, status } of missed) {
  const { line, column } = location.start;
  const text = (replacement ?? '').replaceAll(/\s+/g, ' ').slice(0, 100);
  process.stdout.write(`${relative('', fileName)}:${line}:${column} ${status} ${mutatorName}: ${text}\n`);
}
const score = (100 * detected) / Math.max(1, detected + missed.length);
process.stdout.write(`${name}: ${detected} of ${detected + missed.length} faults noticed, ${score.toFixed(1)} %\n`);
process.exitCode = score < wanted ? 1 : 0;
