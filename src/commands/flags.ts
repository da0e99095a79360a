import { type Command, Option } from 'commander';
import { UsageError } from './program.ts';

/** One flag of a long-running command, which is also an environment variable. */
export interface Flag<T> {
  /** What stands for the value in the help; absent for a switch, which takes none. */
  placeholder?: string;
  summary: string;
  /** The value without the flag. */
  default: T;
  /** How the help names the default, where the value itself says nothing. */
  defaultText?: string;
  /** May be given several times; in the environment variable the values are separated by commas. */
  repeatable?: true;
  /** Reads the texts that were given: one, or for repeatable flags at least one. Throws FlagError. */
  parse: (texts: readonly string[]) => T;
}

/** A value that a flag does not take. The message continues "… is not allowed: ". */
export class FlagError extends Error {}

/** Flags by their name without dashes at the front: `client-ca-file`. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;

/** The values of flags, by their names. */
export type FlagValues<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

/** The environment variable of a flag: EXTENSIONCONFIG_WEBHOOK_CLIENT_CA_FILE. */
export function environmentVariableOf(flag: string): string {
  return `EXTENSIONCONFIG_WEBHOOK_${flag.toUpperCase().replaceAll('-', '_')}`;
}

function describeDefault(flag: Flag<unknown>): string {
  const text =
    flag.defaultText ?? (Array.isArray(flag.default) || flag.default === undefined ? 'none' : String(flag.default));
  return flag.placeholder === undefined ? '' : `default ${text}; `;
}

/** Adds flags to a command; `readFlags` gives their values. */
export function addFlags(command: Command, flags: Flags): void {
  for (const [name, flag] of Object.entries(flags)) {
    const syntax = flag.placeholder === undefined ? `--${name}` : `--${name} <${flag.placeholder}>`;
    const help = `${flag.summary} (${describeDefault(flag)}env ${environmentVariableOf(name)})`;
    const option = new Option(syntax, help);
    if (flag.placeholder !== undefined) {
      // All texts are kept: the last one counts, unless the flag is repeatable.
      option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
    }
    command.addOption(option);
  }
}

function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}

/**
 * The values of a command's flags: from the command line, else from the environment, else the default. An empty
 * environment variable counts as absent.
 *
 * @throws {UsageError} that names the flag or variable, the value and what is allowed.
 */
export function readFlags<F extends Flags>(
  flags: F,
  options: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
): FlagValues<F> {
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(flags)) {
    const given = options[camelCase(name)];
    const variable = environmentVariableOf(name);
    const fromEnvironment = env[variable];
    let texts: string[];
    let origin = `--${name}`;
    if (given !== undefined) {
      texts = given === true ? ['true'] : (given as string[]);
      if (!flag.repeatable) {
        texts = texts.slice(-1);
      }
    } else if (fromEnvironment !== undefined && fromEnvironment !== '') {
      texts = flag.repeatable ? fromEnvironment.split(',') : [fromEnvironment];
      origin = variable;
    } else {
      values[name] = flag.default;
      continue;
    }
    try {
      values[name] = flag.parse(texts);
    } catch (error) {
      if (error instanceof FlagError) {
        const shown = texts.join(',');
        const value = JSON.stringify(shown.length > 100 ? `${shown.slice(0, 100)}…` : shown);
        throw new UsageError(`${origin}: ${value} is not allowed: ${error.message}`);
      }
      throw error;
    }
  }
  return values as FlagValues<F>;
}

type Base<T> = Omit<Flag<T>, 'parse' | 'placeholder' | 'repeatable'>;

/** A flag whose value is a whole number between two bounds. */
export function integerFlag(placeholder: string, min: number, max: number, base: Base<number>): Flag<number> {
  return {
    ...base,
    placeholder,
    parse: ([text = '']) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (!(value >= min && value <= max)) {
        throw new FlagError(`it must be a whole number from ${min} to ${max}`);
      }
      return value;
    },
  };
}

/** A flag whose value is one of a few words. */
export function choiceFlag<const C extends readonly string[]>(
  placeholder: string,
  choices: C,
  base: Base<C[number]>,
): Flag<C[number]> {
  return {
    ...base,
    placeholder,
    parse: ([text = '']) => {
      if (!choices.includes(text)) {
        throw new FlagError(`it must be one of ${choices.join(', ')}`);
      }
      return text as C[number];
    },
  };
}

/** A flag whose value is any text but an empty one. */
export function textFlag<T extends string | undefined>(placeholder: string, base: Base<T>): Flag<string | T> {
  return {
    ...base,
    placeholder,
    parse: ([text = '']) => {
      if (text === '') {
        throw new FlagError('it must not be empty');
      }
      return text;
    },
  };
}

/** A flag that may be given several times, each time with a text that is not empty. */
export function listFlag(placeholder: string, summary: string): Flag<readonly string[]> {
  return {
    placeholder,
    summary,
    default: [],
    repeatable: true,
    parse: (texts) => {
      if (texts.some((text) => text.trim() === '')) {
        throw new FlagError('none of the values may be empty');
      }
      return texts.map((text) => text.trim());
    },
  };
}

/** A flag without a value; in the environment it is `true` or `false`. */
export function switchFlag(summary: string): Flag<boolean> {
  return {
    summary,
    default: false,
    parse: ([text]) => {
      if (text !== 'true' && text !== 'false') {
        throw new FlagError('it must be true or false');
      }
      return text === 'true';
    },
  };
}
