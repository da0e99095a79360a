import {
  createHookCatalog,
  formatRelease,
  type HookCatalog,
  LifecycleFileError,
  newestKnownRelease,
  oldestKnownRelease,
  parseLifecycles,
  parseRelease,
  type Release,
  unknownReleaseProblem,
} from '../../runtimehooks/index.ts';
import { type Flag, FlagError, type Flags, integerFlag, listFlag } from '../framework/flags.ts';
import { readLimitedFile } from '../framework/limited-file.ts';
import { UsageError } from '../framework/program.ts';

/** The known releases, the newest first: `v1.14`. */
export const knownReleases = Array.from(
  { length: newestKnownRelease.minor - oldestKnownRelease.minor + 1 },
  (_, index) => formatRelease({ ...newestKnownRelease, minor: newestKnownRelease.minor - index }),
);

const targetFlag: Flag<Release> = {
  placeholder: 'VERSION',
  summary: `targeted Cluster API release, from ${formatRelease(oldestKnownRelease)} on`,
  default: newestKnownRelease,
  defaultText: `${formatRelease(newestKnownRelease)}, the newest known`,
  suggestions: knownReleases,
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

/** The flags that determine the known hooks, for commands that need no rules, which are as many files again. */
export const catalogFlags = {
  'target-cluster-api-version': targetFlag,
  'hook-lifecycles': listFlag('FILE', "YAML file with a provider's own hooks and their lifecycles; may be repeated"),
} satisfies Flags;

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

/** The known hooks, including those in a provider's files. @throws {UsageError} when a file cannot be used. */
export function hookCatalogOf(files: readonly string[]): HookCatalog {
  return createHookCatalog(
    files.flatMap((file) => readWith('--hook-lifecycles', file, parseLifecycles, LifecycleFileError)),
  );
}
