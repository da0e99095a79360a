import { type Command, Option } from 'commander';
import { truncated, withoutControls } from '../../base/index.ts';
import { goDurationMs } from '../../kubernetes/index.ts';
import { type Io, UsageError } from './program.ts';

export interface Flag<T> {
  /** For the value in the help; absent for a switch, which has none. */
  placeholder?: string;
  /** `n` for `-n`. */
  short?: string;
  summary: string;
  /** The environment variable that sets it, for a Deployment. */
  env?: string;
  default: T;
  /** Description of the default in the help, if the value itself says nothing. */
  defaultText?: string;
  choices?: readonly string[];
  /** May be given several times: the lists of `parse` are joined. */
  repeatable?: true;
  /** Parses one value. @throws {FlagError} when the flag does not accept it. */
  parse: (text: string) => T;
}

/** A value that a flag does not accept. The message continues "… is not allowed: ". */
export class FlagError extends Error {}

export type Flags = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

export interface Call<F extends Flags> {
  flags: FlagValues<F>;
  /** Whether a flag is set on the command line. */
  isGiven: (flag: keyof F) => boolean;
  io: Io;
}

class FlagOption extends Option {
  readonly flag: Flag<unknown>;

  constructor(name: string, flag: Flag<unknown>) {
    const long = flag.placeholder === undefined ? `--${name}` : `--${name} <${flag.placeholder}>`;
    super(flag.short === undefined ? long : `-${flag.short}, ${long}`, flag.summary);
    this.flag = flag;
    // For commander, a flag whose name begins with `no-` sets the flag without it to false.
    this.negate = false;
    if (flag.choices !== undefined) {
      this.choices(flag.choices);
    }
    this.default(flag.default, flag.defaultText);
    if (flag.env !== undefined) {
      this.env(flag.env);
    }
    if (flag.placeholder !== undefined) {
      this.argParser((text: string, before: unknown) => this.#read(text, before));
    }
  }

  /** The name under which commander keeps its value. */
  override attributeName(): string {
    return this.name();
  }

  /** The value for a text; `before` is the previous one. @throws {UsageError} that names flag or variable, and the text. */
  #read(text: string, before: unknown): unknown {
    const { env, default: unset, repeatable } = this.flag;
    try {
      const value = this.flag.parse(text);
      return repeatable ? [...(before === unset ? [] : (before as unknown[])), ...(value as unknown[])] : value;
    } catch (error) {
      if (error instanceof FlagError) {
        const origin = env !== undefined && process.env[env] === text ? env : `--${this.name()}`;
        const value = withoutControls(JSON.stringify(truncated(text, 100)));
        throw new UsageError(`${origin}: ${value} is not allowed: ${error.message}`);
      }
      throw error;
    }
  }
}

export function addFlags(command: Command, flags: Flags): void {
  for (const [name, flag] of Object.entries(flags)) {
    command.addOption(new FlagOption(name, flag));
  }
}

/** The values of flags: from the command line, else from the variable of the flag, else the default. */
export const readFlags = <F extends Flags>(command: Command, io: Io): Call<F> => ({
  flags: command.opts<FlagValues<F>>(),
  isGiven: (flag) => command.getOptionValueSource(String(flag)) === 'cli',
  io,
});

export function defaultsOf<F extends Flags>(flags: F): FlagValues<F> {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, flag.default])) as FlagValues<F>;
}

type Options<T> = Partial<Pick<Flag<T>, 'short' | 'env' | 'default' | 'defaultText'>>;

export function integerFlag<T extends number | undefined = undefined>(
  placeholder: string,
  min: number,
  max: number,
  summary: string,
  options: Options<T> = {},
): Flag<number | T> {
  return {
    default: undefined as T,
    ...options,
    summary,
    placeholder,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (!(value >= min && value <= max)) {
        throw new FlagError(`it must be a whole number from ${min} to ${max}`);
      }
      return value;
    },
  };
}

/** A flag with one of a few words as its value; the default is the first of them. */
export function choiceFlag<const C extends readonly string[]>(
  placeholder: string,
  choices: C,
  summary: string,
  options: Options<C[number]> = {},
): Flag<C[number]> {
  const problemsOf = (text: string) => (choices.includes(text) ? [] : [`must be one of ${choices.join(', ')}`]);
  const text = textFlag<C[number]>(placeholder, summary, { default: choices[0] as C[number], ...options, problemsOf });
  return { ...text, choices } as Flag<C[number]>;
}

/** A flag with the format of a command's output, which `inFormat` writes. */
export function outputFlag<const C extends readonly string[]>(choices: C, summary = 'output format'): Flag<C[number]> {
  return choiceFlag('FORMAT', choices, summary, { short: 'o' });
}

interface Checked {
  /** What is wrong with a text, each as the end of a sentence: `must …`. */
  problemsOf?: (text: string) => readonly string[];
}

export function textFlag<T extends string | undefined = undefined>(
  placeholder: string,
  summary: string,
  { problemsOf = () => [], ...options }: Options<T> & Checked = {},
): Flag<string | T> {
  return {
    default: undefined as T,
    ...options,
    summary,
    placeholder,
    parse(text) {
      const [problem] = text === '' ? ['must not be empty'] : problemsOf(text);
      if (problem !== undefined) {
        throw new FlagError(`it ${problem}`);
      }
      return text;
    },
  };
}

export function listFlag(
  placeholder: string,
  summary: string,
  options: Options<undefined> & Checked = {},
): Flag<readonly string[]> {
  const text = textFlag<undefined>(placeholder, summary, options);
  return { ...text, default: [], repeatable: true, parse: (value) => [String(text.parse(value))] };
}

/** A flag without a value. */
export const switchFlag = (summary: string, options: Pick<Flag<boolean>, 'short'> = {}): Flag<boolean> => ({
  ...options,
  summary,
  default: false,
  parse: (text) => text === 'true',
});

/** Milliseconds of a duration in Go's syntax, plus days: `30s`, `1h30m`, `90d`; NaN for anything else. */
const millisecondsOf = (text: string) => goDurationMs(text, { d: 86_400_000 }) ?? Number.NaN;

export function durationFlag(min: string, max: string, defaultText: string, summary: string): Flag<number> {
  return {
    summary,
    placeholder: 'DURATION',
    default: millisecondsOf(defaultText),
    defaultText,
    parse: (text) => {
      const value = millisecondsOf(text);
      if (!(value >= millisecondsOf(min) && value <= millisecondsOf(max))) {
        throw new FlagError(`it must be a duration from ${min} to ${max}, such as 30s, 1h30m or 1d`);
      }
      return value;
    },
  };
}
