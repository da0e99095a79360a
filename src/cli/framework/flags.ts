import { type Command, Option } from 'commander';
import { truncated, withoutControls } from '../../base/index.ts';
import { nearestTo } from './nearest.ts';
import { type Io, UsageError } from './program.ts';

export interface Flag<T> {
  /** The placeholder for the value in the help; absent for a switch, which has no value. */
  placeholder?: string;
  /** Letter of the short form, `n` for `-n`. */
  short?: string;
  summary: string;
  /** The value if the flag is not set. */
  default: T;
  /** Description of the default in the help, if the value itself says nothing. */
  defaultText?: string;
  choices?: readonly string[];
  /** Values that shell completion suggests, where they are too many for the help. */
  suggestions?: readonly string[] | LookedUp;
  /** Whether one value may be a list of suggestions with commas. */
  takesList?: true;
  /** May be given several times: the lists of `parse` are joined. In the environment, commas separate the values. */
  repeatable?: true;
  /** Parses one value. @throws {FlagError} when the flag does not accept it. */
  parse: (text: string) => T;
}

/** Names that shell completion looks up: in the kubeconfig, or in the cluster that it names. */
export type LookedUp = 'contexts' | 'extensions' | 'handlers';

/** A value that a flag does not accept. The message continues "… is not allowed: ". */
export class FlagError extends Error {}

export type Flags = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<F extends Flags> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

export interface Call<F extends Flags> {
  flags: FlagValues<F>;
  /** Whether a flag is set, by the command line or the environment. */
  isGiven: (flag: keyof F) => boolean;
  io: Io;
}

const variablePrefix = 'EXTENSIONCONFIG_WEBHOOK_';

const asVariable = (name: string) => name.toUpperCase().replaceAll('-', '_');

/** EXTENSIONCONFIG_WEBHOOK_SERVE_CLIENT_CA_FILE; the commands of a group (`certs rotate`) share their variables. */
function environmentVariableOf(command: string, flag: string): string {
  return `${variablePrefix}${asVariable(command)}_${asVariable(flag)}`;
}

/**
 * A flag as a commander option. Commander's own `env()` is not used: it only reads `process.env`, takes an empty
 * variable for a value, and sets switches for any value, even `false`.
 */
class FlagOption extends Option {
  readonly flag: Flag<unknown>;

  constructor(name: string, flag: Flag<unknown>) {
    const long = flag.placeholder === undefined ? `--${name}` : `--${name} <${flag.placeholder}>`;
    super(flag.short === undefined ? long : `-${flag.short}, ${long}`, flag.summary);
    this.flag = flag;
    // A flag whose name begins with `no-` is like any other: commander would make it set the flag without `no-` to
    // false.
    this.negate = false;
    if (flag.choices !== undefined) {
      this.choices(flag.choices);
    }
    this.default(flag.default, flag.defaultText);
    if (flag.placeholder !== undefined) {
      this.argParser((text: string, before: unknown) => this.read(`--${name}`, [text], before));
    }
  }

  /** The value for texts; `before` is the previous one. @throws {UsageError} that names `origin` and the text. */
  read(origin: string, texts: readonly string[], before: unknown): unknown {
    const values = texts.map((text) => {
      try {
        return this.flag.parse(text);
      } catch (error) {
        if (error instanceof FlagError) {
          const value = withoutControls(JSON.stringify(truncated(text, 100)));
          throw new UsageError(`${origin}: ${value} is not allowed: ${error.message}`);
        }
        throw error;
      }
    });
    if (!this.flag.repeatable) {
      return values.at(-1);
    }
    return [...(before === this.flag.default ? [] : (before as readonly unknown[])), ...values.flat()];
  }
}

/** What shell completion suggests for the value of a flag, of which the user has typed the beginning, if anything. */
export function suggestionsFor(option: Option, typed: string): readonly string[] | LookedUp | undefined {
  if (!(option instanceof FlagOption) || option.flag.suggestions === undefined) {
    return undefined;
  }
  const { suggestions, takesList } = option.flag;
  if (typeof suggestions === 'string') {
    return suggestions;
  }
  const before = takesList ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const previous = new Set(before.split(','));
  return suggestions.filter((value) => !previous.has(value)).map((value) => `${before}${value}`);
}

export function addFlags(command: Command, flags: Flags): void {
  for (const [name, flag] of Object.entries(flags)) {
    command.addOption(new FlagOption(name, flag));
  }
  if (Object.keys(flags).length > 0) {
    command.addHelpText('after', () => variablesNote(command));
  }
}

function flagOptionsOf(command: Command): FlagOption[] {
  return command.options.filter((option) => option instanceof FlagOption);
}

/** The command after which variables are named: the one directly below the program. */
function namingCommand(command: Command): Command {
  let at = command;
  while (at.parent?.parent) {
    at = at.parent;
  }
  return at;
}

function variablesNote(command: Command): string {
  const [first] = flagOptionsOf(command);
  const name = first?.name() ?? '';
  const variable = environmentVariableOf(namingCommand(command).name(), name);
  const line = `  --${name}: ${variable}`;
  return `\nEach flag can also be set with an environment variable:\n${line.length > 80 ? `  --${name}:\n  ${variable}` : line}`;
}

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

/** Rejects variables of unknown flags: a misspelled setting must not be ignored silently. */
function refuseUnknownVariables(top: Command, env: NodeJS.ProcessEnv): void {
  const names = allCommands(top).flatMap((command) => flagOptionsOf(command).map((option) => option.name()));
  const known = new Set(names.map((name) => environmentVariableOf(top.name(), name)));
  const prefix = environmentVariableOf(top.name(), '');
  for (const [variable, value] of Object.entries(env)) {
    if (variable.startsWith(prefix) && value !== '' && !known.has(variable)) {
      const flag = variable.slice(prefix.length).toLowerCase().replaceAll('_', '-');
      const nearest = nearestTo(flag, names).map((name) => environmentVariableOf(top.name(), name));
      const hint = nearest.length === 0 ? `${top.name()} has no such flag` : `did you mean ${nearest.join(' or ')}?`;
      throw new UsageError(`${variable}: unknown environment variable; ${hint}`);
    }
  }
}

function applyEnvironment(command: Command, env: NodeJS.ProcessEnv): void {
  const top = namingCommand(command);
  refuseUnknownVariables(top, env);
  for (const option of flagOptionsOf(command)) {
    const variable = environmentVariableOf(top.name(), option.name());
    const text = env[variable];
    if (text === undefined || text === '' || command.getOptionValueSource(option.attributeName()) === 'cli') {
      continue;
    }
    const texts = option.flag.repeatable ? text.split(',').map((value) => value.trim()) : [text];
    command.setOptionValueWithSource(option.attributeName(), option.read(variable, texts, option.flag.default), 'env');
  }
}

/** The values of flags: from the command line, else the environment (an empty variable is unset), else the default. */
export function readFlags<F extends Flags>(flags: F, command: Command, io: Io): Call<F> {
  applyEnvironment(command, io.env);
  const attributes = new Map(flagOptionsOf(command).map((option) => [option.name(), option.attributeName()]));
  const attributeOf = (flag: string) => attributes.get(flag) ?? flag;
  const values = Object.keys(flags).map((name) => [name, command.getOptionValue(attributeOf(name))]);
  return {
    flags: Object.fromEntries(values) as FlagValues<F>,
    isGiven: (flag) => ['cli', 'env'].includes(command.getOptionValueSource(attributeOf(String(flag))) ?? ''),
    io,
  };
}

export function defaultsOf<F extends Flags>(flags: F): FlagValues<F> {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, flag.default])) as FlagValues<F>;
}

type Options<T> = Partial<Pick<Flag<T>, 'short' | 'default' | 'defaultText' | 'suggestions'>>;

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
  return {
    default: choices[0] as C[number],
    ...options,
    summary,
    placeholder,
    choices,
    parse: (text) => {
      if (!choices.includes(text)) {
        throw new FlagError(`it must be one of ${choices.join(', ')}`);
      }
      return text as C[number];
    },
  };
}

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

/** A flag without a value; its environment variable is `true` or `false`. */
export function switchFlag(summary: string, options: Pick<Flag<boolean>, 'short'> = {}): Flag<boolean> {
  return {
    ...options,
    summary,
    default: false,
    parse: (text) => {
      if (text !== 'true' && text !== 'false') {
        throw new FlagError('it must be true or false');
      }
      return text === 'true';
    },
  };
}
