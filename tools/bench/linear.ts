// npm run bench:linear -- [FILE…]: measures the work of the tests that limit it, and prints each with its limit. They run one
// after the other: CPU time is that of the whole process, and so now and then also of a garbage collection or a busy machine.
// Work that is too slow is so three times in a row.
import { globSync, readFileSync } from 'node:fs';
import { startVitest } from 'vitest/node';

const measuring = globSync('test/**/*.test.ts').filter((file) =>
  readFileSync(file, 'utf8').includes('support/work.ts'),
);
const chosen = process.argv.slice(2);
const files = measuring.filter((file) => chosen.length === 0 || chosen.some((part) => file.includes(part)));
if (files.length === 0) {
  throw new Error(`no test that limits its work has a name with ${chosen.join(' or ')}`);
}
process.env.MEASURE_WORK = 'true';
// Sets the exit code if a test fails.
const vitest = await startVitest('test', files, {
  run: true,
  maxWorkers: 1,
  maxConcurrency: 1,
  retry: 2,
  reporters: ['default'],
});
await vitest.close();
