import { Argument, type Command, type Option } from 'commander';
import { suggestionsFor } from './flags.ts';

export class SuggestedArgument extends Argument {
  readonly suggestions: readonly string[] | undefined;

  constructor(syntax: string, description: string, suggestions: readonly string[] | undefined) {
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
  candidates: readonly Candidate[];
  directive: number;
}

const nothing: Completion = { candidates: [], directive: directive.nothing };

function ofNames(values: readonly string[]): Completion {
  return { candidates: values.map((value) => ({ value })), directive: directive.nothing };
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
  if (commands.length === 0) {
    return isHelp && argumentsBefore > 0 ? nothing : values;
  }
  // A group such as `hooks` may take a name as well.
  const names = commands.map((candidate) => ({ value: candidate.name(), summary: candidate.summary() }));
  return { candidates: [...names, ...values.candidates], directive: isHelp ? directive.nothing : values.directive };
}

/** Output for the script of a shell: a line for each candidate (`VALUE\tDESCRIPTION`), and `:DIRECTIVE`. */
export function completionLines(program: Command, words: readonly string[]): string {
  const { candidates, directive: code } = complete(program, words);
  const current = (words.at(-1) ?? '').replace(/^-[^=]*=/, '');
  return [
    ...candidates
      .filter(({ value }) => value.startsWith(current))
      .map(({ value, summary }) => (summary ? `${value}\t${summary}` : value)),
    `:${code}`,
    '',
  ].join('\n');
}
