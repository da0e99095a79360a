import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { FileOrder } from './test/tools/file-order.ts';
import { SkippedReporter } from './test/tools/skipped-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A quarter of the CPU time of a run: each file would start a process and import the program again.
    isolate: false,
    // Node.js runs the TypeScript as it does for users: what Vite would make of it is slower, and takes time itself.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: [
      'test/tools/no-empty-table.ts',
      'test/tools/no-loose-match.ts',
      'test/tools/leaves-nothing.ts',
      'test/tools/given-keys.ts',
    ],
    globalSetup: ['test/tools/run-folder.ts'],
    expect: { requireAssertions: true },
    // Whatever the shell says: with production npm takes what is for development for too much.
    env: { NODE_ENV: 'test' },
    // Against what hangs, and not for what is slow: a machine with much else to do may take ten times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', new SkippedReporter()],
    sequence: { sequencer: FileOrder },
    // Two more than there are cores, where Vitest takes one less: much of what runs here waits for processes and the clock.
    maxWorkers: availableParallelism() + 2,
    // Of a file with concurrent tests, which wait more than they compute.
    maxConcurrency: 3,
    // Each file of test/e2e registers ExtensionConfig and takes it back: one after the other where they share a server.
    fileParallelism: (process.env.E2E_KUBECONFIG ?? '') === '',
  },
});
