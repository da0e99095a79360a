import type { Command } from 'commander';
import {
  createHookCatalog,
  formatRelease,
  LifecycleFileError,
  newestKnownRelease,
  parseLifecycles,
  parseRelease,
} from '../hooks/index.ts';
import { parseRulesConfig, type RuleSetOptions, RulesConfigError } from '../rules/index.ts';
import { readLimitedFile } from './limited-file.ts';
import { UsageError } from './program.ts';
import { type Setting, settingsOf } from './setting.ts';

/** Longest timeout that may be allowed to handlers, in seconds: what Cluster API's code takes. */
const maxMaxHandlerTimeout = 30;
const defaultMaxHandlerTimeout = 10;

/** Adds the flags that say which rules run and how: those that the linter and the server share. */
export function addPolicyFlags(command: Command): Command {
  return command
    .option(
      '--profile <name>',
      'strict (all rules) or upstream (exactly what Cluster API rejects itself); default strict',
    )
    .option('--rules-config <file>', 'YAML file that sets single rules to off, warn or deny')
    .option(
      '--enforcement <level>',
      "deny, or warn: denials that are not Cluster API's own become warnings; default deny",
    )
    .option(
      '--max-handler-timeout-seconds <n>',
      `longest timeoutSeconds of a handler, 1 to ${maxMaxHandlerTimeout}; default ${defaultMaxHandlerTimeout}`,
    )
    .option(
      '--target-cluster-api-version <version>',
      `Cluster API release that the objects are meant for; default ${formatRelease(newestKnownRelease)}, the newest known`,
    )
    .option(
      '--hook-lifecycles <file>',
      "YAML file with a provider's own hooks (repeatable; in the environment variable separated by commas)",
      (file: string, files: string[] | undefined) => [...(files ?? []), file],
    );
}

function oneOf<T extends string>(setting: Setting | undefined, allowed: readonly [T, ...T[]]): T {
  if (setting === undefined) {
    return allowed[0];
  }
  const found = allowed.find((value) => value === setting.text);
  if (found === undefined) {
    throw new UsageError(`${setting.from}: ${JSON.stringify(setting.text)} is not one of ${allowed.join(', ')}`);
  }
  return found;
}

/**
 * Reads a whole number of a flag.
 *
 * @throws {UsageError} when it is none, or outside of `min` to `max`.
 */
export function wholeNumber({ text, from }: Setting, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d{1,15}$/.test(text) || number < min || number > max) {
    throw new UsageError(`${from}: ${JSON.stringify(text)} is not a whole number from ${min} to ${max}`);
  }
  return number;
}

function readWith<T>({ text: file, from }: Setting, parse: (text: string) => T): T {
  const text = readLimitedFile(from, file);
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof RulesConfigError || error instanceof LifecycleFileError || error instanceof ReferenceError) {
      throw new UsageError(`${from}: ${file}: ${error.message}`);
    }
    throw error;
  }
}

/**
 * Reads the flags of `addPolicyFlags`, and their environment variables for flags that are not given.
 *
 * @throws {UsageError} for a value or file that cannot be used; names the flag, the value, and what is allowed.
 */
export function readPolicyFlags(command: Command, env: NodeJS.ProcessEnv): RuleSetOptions {
  const settings = (flag: string) => settingsOf(command, env, flag);
  const setting = (flag: string) => settings(flag)[0];
  const timeout = setting('--max-handler-timeout-seconds');
  const target = setting('--target-cluster-api-version');
  const clusterApi = target === undefined ? newestKnownRelease : parseRelease(target.text);
  if (clusterApi === undefined) {
    throw new UsageError(
      `${target?.from}: ${JSON.stringify(target?.text)} is not a release of the form 1.11, v1.11 or v1.11.3`,
    );
  }
  const config = setting('--rules-config');
  const lifecycleFiles = settings('--hook-lifecycles').flatMap((file) =>
    file.from.startsWith('--') ? [file] : file.text.split(',').map((text) => ({ ...file, text: text.trim() })),
  );
  return {
    profile: oneOf(setting('--profile'), ['strict', 'upstream']),
    enforcement: oneOf(setting('--enforcement'), ['deny', 'warn']),
    maxHandlerTimeoutSeconds:
      timeout === undefined ? defaultMaxHandlerTimeout : wholeNumber(timeout, 1, maxMaxHandlerTimeout),
    clusterApi,
    hooks: createHookCatalog(lifecycleFiles.flatMap((file) => readWith(file, parseLifecycles))),
    ...(config === undefined ? {} : { levels: readWith(config, parseRulesConfig) }),
  };
}
