// npm run test:mutation -- ROOM [PATTERN...]: seeds faults into a room and prints those that no test notices.
import { relative } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
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

process.env.MUTATION_TESTS ??= JSON.stringify(
  room.makesKeys ? room.tests : ['test/support/given-keys.ts', ...room.tests],
);
const results = await new Stryker({
  mutate: patterns.length > 0 ? patterns : [...room.mutate],
  testRunner: 'in-process',
  // Mutants in module scope need a fresh run of all tests each. Most of them are texts, which the tests of the examples
  // check.
  ignoreStatic: true,
  // Long enough for a busy machine: a fault that only makes code slow goes unnoticed.
  timeoutMS: 20_000,
  // Stryker rewrites a tsconfig.json with an API that TypeScript 7 does not have; without a file it rewrites nothing.
  tsconfigFile: 'tools/mutation/no-tsconfig.json',
  concurrency: Number(process.env.MUTATION_CONCURRENCY ?? 2),
  ignorePatterns: ['docs', 'dist', 'coverage', '.stryker-tmp*'],
  tempDirName: `.stryker-tmp-${name}`,
  reporters: ['progress', 'missed'],
  plugins: ['./in-process.ts', './missed.ts'].map((file) => new URL(file, import.meta.url).href),
  allowConsoleColors: process.stdout.isTTY === true,
}).runMutationTest();

/** The number of faults, and the share of them that tests noticed, in percent. */
function scoreOf(those: readonly MutantResult[]): { detected: number; all: number; percent: number } {
  const has = (...statuses: readonly string[]) => those.filter(({ status }) => statuses.includes(status)).length;
  const detected = has('Killed', 'Timeout');
  const all = detected + has('Survived', 'NoCoverage');
  return { detected, all, percent: (100 * detected) / Math.max(1, all) };
}

const byFile = Object.entries(Object.groupBy(results, ({ fileName }) => relative('', fileName)));
for (const [file, those = []] of byFile.sort(([one], [other]) => (one < other ? -1 : 1))) {
  const { detected, all, percent } = scoreOf(those);
  process.stdout.write(`${percent.toFixed(1).padStart(6)} %  ${detected} of ${all}  ${file}\n`);
}
const { detected, all, percent } = scoreOf(results);
process.stdout.write(`${name}: ${detected} of ${all} faults noticed, ${percent.toFixed(1)} %\n`);
process.exitCode = percent < wanted ? 1 : 0;
