import {
  formatRelease,
  newestKnownRelease,
  oldestKnownRelease,
  parseRelease,
  type Release,
  unknownReleaseProblem,
} from '../../runtimehooks/index.ts';
import { type Flag, FlagError, type Flags, integerFlag } from '../framework/flags.ts';
import { readLimitedFile } from '../framework/limited-file.ts';
import { UsageError } from '../framework/program.ts';

const targetFlag: Flag<Release> = {
  placeholder: 'VERSION',
  summary: `targeted Cluster API release, from ${formatRelease(oldestKnownRelease)} on`,
  default: newestKnownRelease,
  defaultText: `${formatRelease(newestKnownRelease)}, the newest known`,
  parse: (text) => {
    const release = parseRelease(text);
    if (release === undefined) {
      throw new FlagError('it must be a release such as 1.11, v1.11 or v1.11.3');
    }
    const problem = unknownReleaseProblem(release);
    if (problem !== undefined) {
      throw new FlagError(problem);
    }
    return release;
  },
};

/** The flag that determines the known hooks. */
export const catalogFlags = { 'target-cluster-api-version': targetFlag } satisfies Flags;

/** The flag `--max-handler-timeout-seconds`; the limit is the maximum in Cluster API's code. */
export const handlerTimeoutFlag = integerFlag('SECONDS', 1, 30, 'maximum timeoutSeconds of a handler', { default: 10 });

/** What a file that a flag names says. @throws {UsageError} when the parser throws a `Problem`. */
export function readWith<T>(
  flag: string,
  file: string,
  parse: (text: string) => T,
  Problem: abstract new (...args: never[]) => Error,
): T {
  const text = readLimitedFile(flag, file);
  try {
    return parse(text);
  } catch (error) {
    // A ReferenceError is an unresolvable YAML alias.
    if (error instanceof Problem || error instanceof ReferenceError) {
      throw new UsageError(error.message.replaceAll(/^/gm, `${flag}: ${file}: `));
    }
    throw error;
  }
}
