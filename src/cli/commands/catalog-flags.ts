import {
  formatRelease,
  newestKnownRelease,
  oldestKnownRelease,
  parseRelease,
  parseVersion,
  type Release,
  unknownReleaseProblem,
} from '../../runtimehooks/index.ts';
import { type Flag, FlagError, type Flags } from '../framework/flags.ts';
import { readLimitedFile } from '../framework/limited-file.ts';
import { UsageError } from '../framework/program.ts';

/** A flag for a release of Cluster API. `problemOf` says why one is refused. */
export const releaseFlag = <D extends Release | undefined>(
  summary: string,
  options: Pick<Flag<D>, 'default' | 'defaultText'>,
  problemOf: (release: Release) => string | undefined = unknownReleaseProblem,
): Flag<Release | D> => ({
  placeholder: 'VERSION',
  summary,
  ...options,
  parse: (text) => {
    const release = text === 'main' ? newestKnownRelease : parseRelease(text);
    const problem =
      release === undefined ? 'it must be a release such as 1.11, v1.11 or v1.11.3, or main' : problemOf(release);
    if (release === undefined || problem !== undefined) {
      throw new FlagError(String(problem));
    }
    return release;
  },
});

/** The problems of a version of Kubernetes, which Cluster API writes with a `v`. */
export const versionProblems = (text: string): string[] =>
  text.startsWith('v') && parseVersion(text) !== undefined ? [] : ['must be a version such as v1.35.0'];

/** The flag that determines the known hooks. */
export const catalogFlags = {
  'cluster-api-version': releaseFlag(`targeted Cluster API release, from ${formatRelease(oldestKnownRelease)} on`, {
    default: newestKnownRelease,
    defaultText: `${formatRelease(newestKnownRelease)}, the newest known`,
  }),
} satisfies Flags;

/** Parses the file that a flag names. @throws {UsageError} with the flag and the file before each line of the parser's. */
export function readWith<T>(flag: string, file: string, parse: (text: string) => T): T {
  const text = readLimitedFile(flag, file);
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof UsageError) {
      throw new UsageError(error.message.replaceAll(/^/gm, `${flag}: ${file}: `));
    }
    throw error;
  }
}
