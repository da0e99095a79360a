import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { FileOrder } from './test/support/file-order.ts';
import { SkippedReporter } from './test/support/skipped-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Isolation costs a quarter of the CPU time of a run: each file would start a process and import the program again.
    isolate: false,
    // Node.js runs the TypeScript as it does for users: Vite's transformed code is slower, and transforming takes time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ['test/support/setup.ts'],
    globalSetup: ['test/support/run-folder.ts'],
    // One second is Vitest's default: a busy machine takes longer to end a process.
    expect: { requireAssertions: true, poll: { timeout: 30_000 } },
    // Overrides the shell: with production, npm treats devDependencies as extraneous.
    env: { NODE_ENV: 'test' },
    // For tests that hang, not for slow ones: a busy machine may take ten times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', new SkippedReporter()],
    sequence: { sequencer: FileOrder },
    // Three more than there are cores (Vitest's default is one less): many tests wait for processes and the clock. With as many
    // as there are cores, nothing runs for half of the time.
    maxWorkers: availableParallelism() + 3,
    // Workers keep all cores busy, so V8's compiler threads gain nothing: without them a run takes 8 % less CPU time. Young
    // generations that start at their usual final size save 2 %.
    execArgv: ['--no-concurrent-recompilation', '--min-semi-space-size=16'],
    // Within a file with concurrent tests, which wait more than they compute.
    maxConcurrency: 3,
    // Each file of test/e2e registers and removes ExtensionConfig: one after the other if they share a server.
    fileParallelism: (process.env.E2E_KUBECONFIG ?? '') === '',
  },
});
