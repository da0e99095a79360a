import { Argument, Command as CommanderCommand, CommanderError, type Option } from 'commander';
import { bugFields, printable, printableLines, withRemedy } from '../../base/index.ts';
import type { Command } from './command.ts';
import { addFlags, readFlags } from './flags.ts';
import { exitCode, FailureError, type Io, UsageError } from './program.ts';

/** A command in the help of the program. Only that of the command that runs is loaded: each needs many modules. */
type CommandEntry = readonly [summary: string, load: () => Promise<{ command: Command }>];

/** The commands by heading of the help (empty for the last one), and by name. */
export type Commands = Readonly<Record<string, Readonly<Record<string, CommandEntry>>>>;

/** In characters: the terminal's, but no wider than is easy to read. */
const helpWidthOf = ({ columns = 80 }: { columns?: number }): number => Math.min(columns, 100);

function describeOption(option: Option): string {
  const { argChoices, defaultValue, defaultValueDescription, envVar } = option;
  // That a switch is off or a list empty by default need not be said.
  const shown = defaultValueDescription ?? (option.isBoolean() ? '' : String(defaultValue ?? ''));
  const notes = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    ...(shown === '' ? [] : [`default: ${shown}`]),
    ...(envVar === undefined ? [] : [`env: ${envVar}`]),
  ];
  return notes.length === 0 ? option.description : `${option.description} (${notes.join('; ')})`;
}

function build(built: CommanderCommand, command: Command, io: Io, end: (code: number) => void): void {
  const { description, args = [], flags = {}, help = '', commands = {}, acceptsAnything = false, run } = command;
  // A flag after a subcommand belongs to that, even if this one has a flag of the same name.
  built.description(description).enablePositionalOptions().addHelpText('after', help);
  for (const [syntax, text, choices] of args) {
    const argument = new Argument(syntax, text);
    built.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  addFlags(built, flags);
  built.allowUnknownOption(acceptsAnything).allowExcessArguments(acceptsAnything);
  for (const [name, { summary, ...subcommand }] of Object.entries(commands)) {
    build(built.command(name).summary(summary), subcommand, io, end);
  }
  if (run !== undefined) {
    built.action(async (...parameters) => {
      // After the arguments, commander passes two more: its options and the command.
      const code = await run(readFlags(built, io), ...parameters.slice(0, -2));
      end(code ?? exitCode.ok);
    });
  }
}

/** Builds a program. Only the commands that `loads` accepts by name have flags and an action. */
export async function createProgram(
  name: string,
  groups: Commands,
  loads: (command: string) => boolean,
  io: Io,
  end: (code: number) => void = () => {},
): Promise<CommanderCommand> {
  const program = new CommanderCommand(name)
    .enablePositionalOptions()
    .option('-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup('Other:')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride()
    .showHelpAfterError('(add --help for all options)')
    // Commander does not wrap descriptions in less room.
    .configureHelp({ minWidthToWrap: 20, optionDescription: describeOption })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => helpWidthOf(io.stdout),
      getErrHelpWidth: () => helpWidthOf(io.stdout),
      // In the format of all other user errors.
      outputError: (text, write) => write(printableLines(text.replace(/^error: /, `${name}: `))),
    });
  for (const [heading, commands] of Object.entries(groups)) {
    for (const [commandName, [summary, load]] of Object.entries(commands)) {
      const command = program.command(commandName).summary(summary);
      if (heading !== '') {
        command.helpGroup(heading);
      }
      if (loads(commandName)) {
        build(command, (await load()).command, io, end);
      }
    }
  }
  return program;
}

/** The command that arguments name, which need not exist. An argument may be the name of another one. */
export function calledCommand(args: readonly string[]): string | undefined {
  // Flags of the program itself take no values.
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}

/** Runs a program with arguments (without node and script); returns the exit code. */
export async function runProgram(name: string, groups: Commands, args: readonly string[], io: Io): Promise<number> {
  let code: number = exitCode.ok;
  const called = calledCommand(args);
  const isCalled = (command: string) => command === called;
  const program = await createProgram(name, groups, isCalled, io, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help ends with 0; every other error of commander is a mistake in the arguments.
      return error.exitCode === 0 ? exitCode.ok : exitCode.usage;
    }
    // An operation that was stopped fails, too.
    if (io.signal.aborted && (error === io.signal.reason || error instanceof FailureError)) {
      io.stderr.write(`${name}: interrupted\n`);
      return exitCode.interrupted;
    }
    if (error instanceof UsageError || error instanceof FailureError) {
      io.stderr.write(`${name}: ${printableLines(withRemedy(error))}\n`);
      return error instanceof UsageError ? exitCode.usage : exitCode.findings;
    }
    io.stderr.write(`${name}: ${bugText(error)}\n`);
    return exitCode.findings;
  }
  return code;
}

/** An error that only a bug can cause, in one line: its message, the place in the code, and what to send. */
export function bugText(error: unknown): string {
  const { error: kind, stack } = bugFields(error);
  const message = (error instanceof Error ? error.message : String(error)).slice(0, 300);
  const places = stack.slice(0, 3).map((line) => line.trim().replace(/file:\/\/[^)]*\/(?=[^/]*\/[^/]*$)/, ''));
  return `this is a bug: ${printable(`${kind}: ${message} ${places.join(' ')}`)}: please report this line, what "version" prints, and the command with the smallest input that shows it, without secrets`;
}
