import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, the longest first: what starts last must not leave the other cores idle. Vitest remembers how
 * long files took, but not over an `npm ci`, and then starts with the largest files, which these are not.
 */
const longest = [
  'test/package/pack.test.ts',
  'test/sandbox/http/expensive.test.ts',
  'test/docs/commands/readme.test.ts',
  'test/commands/certs.test.ts',
  'test/controller/discover.test.ts',
  // These take what the first one packs and builds, and would wait for it.
  'test/docs/commands/sandbox.test.ts',
  'test/docs/commands/extension-tutorial.test.ts',
  'test/package/image.test.ts',
  'test/docs/commands/runtime-hooks.test.ts',
  'test/docs/commands/certificates.test.ts',
  'test/certs/engine.test.ts',
  'test/docs/commands/rehearse.test.ts',
  'test/commands/sandbox/process.test.ts',
  'test/controller/leader-election.test.ts',
  'test/server/rotation.test.ts',
];

/** Starts the files that take longest first, and the others in Vitest's own order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
      return index < 0 ? longest.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
