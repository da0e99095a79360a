import { defineConfig } from 'vitest/config';
import { SkippedReporter } from './test/tools/skipped-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default', new SkippedReporter()],
    // Each file of test/e2e registers ExtensionConfig and takes it back: one after the other where they share a server.
    fileParallelism: (process.env.E2E_KUBECONFIG ?? '') === '',
  },
});
