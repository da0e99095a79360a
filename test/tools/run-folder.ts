import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder of this run of the tests, which is gone when it ends. */
    runFolder: string;
  }
}

/** Makes the folder where test files of one run share what takes long to make: see once-a-run.ts. */
export default function setUp(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'test-run-'));
  project.provide('runFolder', folder);
  // The program is started a hundred times, some of them from copies of the checkout, whose paths nobody meets again: what
  // Node.js keeps of them must not pile up in the user's own cache.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  return () => rmSync(folder, { recursive: true, force: true });
}
