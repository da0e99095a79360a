import { Argument, type Command, type Option } from 'commander';
import { type LookedUp, suggestionsFor } from './flags.ts';

export class SuggestedArgument extends Argument {
  readonly suggestions: readonly string[] | LookedUp | undefined;

  constructor(syntax: string, description: string, suggestions: readonly string[] | LookedUp | undefined) {
    super(syntax, description);
    this.suggestions = suggestions;
  }
}

/** What a shell does besides showing candidates: numbers of cobra's protocol, which kubectl uses. */
const directive = { files: 0, nothing: 4, folders: 16 } as const;

interface Candidate {
  value: string;
  summary?: string;
}

interface Completion {
  candidates: readonly Candidate[] | LookedUp;
  directive: number;
}

const nothing: Completion = { candidates: [], directive: directive.nothing };

function ofNames(values: readonly string[] | LookedUp): Completion {
  const candidates = typeof values === 'string' ? values : values.map((value) => ({ value }));
  return { candidates, directive: directive.nothing };
}

const files: Completion = { candidates: [], directive: directive.files };
const folders: Completion = { candidates: [], directive: directive.folders };

function completionOfFlag(option: Option, typed: string): Completion {
  const names = suggestionsFor(option, typed) ?? option.argChoices;
  if (names !== undefined) {
    return ofNames(names);
  }
  if (/\b(DIR|FOLDER)\b/.test(option.flags)) {
    return folders;
  }
  return /\b(FILE|PATH)\b/.test(option.flags) ? files : nothing;
}

function completionOfArgument(argument: Argument): Completion {
  const names = argument instanceof SuggestedArgument ? argument.suggestions : undefined;
  if (names !== undefined) {
    return ofNames(names);
  }
  return argument.name() === 'DIR' ? folders : files;
}

/** The candidates for the last of the words after the program's name. */
function complete(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  let command = program;
  let argumentsBefore = 0;
  let flag: Option | undefined;
  let areFlagsOver = false;
  const help = program.createHelp();
  const optionOf = (word: string) =>
    help.visibleOptions(command).find(({ long, short }) => long === word || short === word);
  for (const word of words.slice(0, -1)) {
    if (flag !== undefined) {
      flag = undefined;
    } else if (word === '--') {
      areFlagsOver = true;
    } else if (word.startsWith('-') && !areFlagsOver) {
      const option = optionOf(word);
      flag = option?.required ? option : undefined;
    } else {
      const next = help.visibleCommands(command).find((candidate) => candidate.name() === word);
      if (next !== undefined && argumentsBefore === 0) {
        command = next;
      } else {
        argumentsBefore++;
      }
    }
  }
  if (flag !== undefined) {
    return completionOfFlag(flag, current);
  }
  if (current.startsWith('-') && !areFlagsOver) {
    const [name = '', value] = current.split('=', 2);
    const option = optionOf(name);
    if (value !== undefined) {
      return option === undefined ? nothing : completionOfFlag(option, value);
    }
    const candidates = help
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long ? [{ value: long, summary: description }] : []));
    return { candidates, directive: directive.nothing };
  }
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[argumentsBefore] ?? (last?.variadic ? last : undefined);
  const values = argument === undefined ? nothing : completionOfArgument(argument);
  const isHelp = command.name() === 'help';
  const commands = argumentsBefore === 0 ? help.visibleCommands(isHelp ? program : command) : [];
  if (commands.length === 0 || typeof values.candidates === 'string') {
    return isHelp && argumentsBefore > 0 ? nothing : values;
  }
  // A group such as `hooks` may take a name as well.
  const names = commands.map((candidate) => ({ value: candidate.name(), summary: candidate.summary() }));
  return { candidates: [...names, ...values.candidates], directive: isHelp ? directive.nothing : values.directive };
}

/** Looks up names, by means of a kubeconfig; none if that fails. Never rejects. */
export type LookUp = (
  names: LookedUp,
  options: { kubeconfig: string | undefined; context: string | undefined },
) => Promise<readonly string[]>;

/** Output for the script of a shell: a line for each candidate (`VALUE\tDESCRIPTION`), and `:DIRECTIVE`. */
export async function completionLines(program: Command, words: readonly string[], lookUp: LookUp): Promise<string> {
  const { candidates: completion, directive: code } = complete(program, words);
  const flagValue = (flag: string) =>
    words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1) ??
    (words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined);
  const candidates: readonly Candidate[] =
    typeof completion === 'string'
      ? (await lookUp(completion, { kubeconfig: flagValue('--kubeconfig'), context: flagValue('--context') })).map(
          (value) => ({
            value,
          }),
        )
      : completion;
  const current = (words.at(-1) ?? '').replace(/^-[^=]*=/, '');
  return [
    ...candidates
      .filter(({ value }) => value.startsWith(current))
      .map(({ value, summary }) => (summary ? `${value}\t${summary}` : value)),
    `:${code}`,
    '',
  ].join('\n');
}
