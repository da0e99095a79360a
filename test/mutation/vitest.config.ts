import { defineConfig } from 'vitest/config';

/** Glob patterns of the tests to run, which run.ts sets: a dry run of all tests takes too long. */
const tests = JSON.parse(process.env.MUTATION_TESTS ?? '[]') as string[];

export default defineConfig({
  test: {
    include: tests.filter((pattern) => !pattern.startsWith('!')),
    exclude: tests.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1)),
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
