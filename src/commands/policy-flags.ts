import {
  choiceFlag,
  type Flag,
  FlagError,
  type Flags,
  type FlagValues,
  integerFlag,
  listFlag,
  readLimitedFile,
  textFlag,
  UsageError,
} from '../cli/index.ts';
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
} from '../hooks/index.ts';
import { parseRulesConfig, type RuleSetOptions, RulesConfigError } from '../rules/index.ts';

/** Longest timeout that may be allowed to handlers, in seconds: what Cluster API's code takes. */
const maxMaxHandlerTimeout = 30;

const targetFlag: Flag<Release> = {
  placeholder: 'VERSION',
  summary: `Cluster API release that the objects are meant for, from ${formatRelease(oldestKnownRelease)} on`,
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

/** The flags that say which rules run and how: those that the linter and the server share. */
export const policyFlags = {
  profile: choiceFlag('PROFILE', ['strict', 'upstream'], {
    summary: "strict: all rules; upstream: exactly what Cluster API's own webhook rejects",
    default: 'strict',
  }),
  'rules-config': textFlag('FILE', {
    summary: 'YAML file that sets single rules to off, warn or deny',
    default: undefined,
  }),
  enforcement: choiceFlag('MODE', ['deny', 'warn'], {
    summary: "warn: denials of rules that are not Cluster API's own become warnings",
    default: 'deny',
  }),
  'max-handler-timeout-seconds': integerFlag('SECONDS', 1, maxMaxHandlerTimeout, {
    summary: 'longest timeoutSeconds that a handler may have',
    default: 10,
  }),
  'target-cluster-api-version': targetFlag,
  'hook-lifecycles': listFlag('FILE', "YAML file with a provider's own hooks and their lives; may be repeated"),
} satisfies Flags;

function readWith<T>(flag: string, file: string, parse: (text: string) => T): T {
  const text = readLimitedFile(flag, file);
  try {
    return parse(text);
  } catch (error) {
    // A ReferenceError is an alias that YAML cannot resolve.
    if (error instanceof RulesConfigError || error instanceof LifecycleFileError || error instanceof ReferenceError) {
      throw new UsageError(`${flag}: ${file}: ${error.message}`);
    }
    throw error;
  }
}

/**
 * The known hooks, with those of a provider's own files.
 *
 * @throws {UsageError} when a file cannot be used.
 */
export function hookCatalogOf(files: readonly string[]): HookCatalog {
  return createHookCatalog(files.flatMap((file) => readWith('--hook-lifecycles', file, parseLifecycles)));
}

/**
 * What the flags make of the rules.
 *
 * @throws {UsageError} when a file that a flag names cannot be used; names flag, file and place.
 */
export function ruleSetOptionsOf(flags: FlagValues<typeof policyFlags>): RuleSetOptions {
  const config = flags['rules-config'];
  return {
    profile: flags.profile,
    enforcement: flags.enforcement,
    maxHandlerTimeoutSeconds: flags['max-handler-timeout-seconds'],
    clusterApi: flags['target-cluster-api-version'],
    hooks: hookCatalogOf(flags['hook-lifecycles']),
    ...(config === undefined ? {} : { levels: readWith('--rules-config', config, parseRulesConfig) }),
  };
}
