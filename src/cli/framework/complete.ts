import type { Command, Option } from 'commander';

/** Instructions to the shell besides the candidates: numbers of cobra's protocol, which kubectl uses. */
const directive = { files: 0, nothing: 4 } as const;

interface Completion {
  candidates: readonly { value: string; summary?: string }[];
  directive: number;
}

/** Fixed values, else files for a placeholder that names some. */
const ofValues = (values: readonly string[] | undefined, placeholder: string): Completion => ({
  candidates: (values ?? []).map((value) => ({ value })),
  directive:
    values === undefined && /\b(file|path|dir|folder|source)s?\b/i.test(placeholder)
      ? directive.files
      : directive.nothing,
});

const ofOption = ({ argChoices, flags }: Option) => ofValues(argChoices, flags);

/** The candidates for the last of the words after the program's name. */
function complete(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const help = program.createHelp();
  let command = program;
  let option: Option | undefined;
  const optionOf = (word: string | undefined) =>
    help.visibleOptions(command).find(({ long, short }) => long === word || short === word);
  for (const word of words.slice(0, -1)) {
    const named = option === undefined ? optionOf(word) : undefined;
    if (option === undefined && named === undefined) {
      command = help.visibleCommands(command).find((candidate) => candidate.name() === word) ?? command;
    }
    option = named?.required ? named : undefined;
  }
  if (option !== undefined) {
    return ofOption(option);
  }
  if (current.includes('=')) {
    const assigned = optionOf(current.split('=', 1)[0]);
    return assigned === undefined ? ofValues([], '') : ofOption(assigned);
  }
  if (current.startsWith('-')) {
    const candidates = help
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long ? [{ value: long, summary: description }] : []));
    return { candidates, directive: directive.nothing };
  }
  const [argument] = command.registeredArguments;
  const commands = help
    .visibleCommands(command.name() === 'help' ? program : command)
    .map((candidate) => ({ value: candidate.name(), summary: candidate.summary() }));
  const values = ofValues(argument?.argChoices, argument?.name() ?? '');
  return { ...values, candidates: [...commands, ...values.candidates] };
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
