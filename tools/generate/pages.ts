import { readFileSync } from 'node:fs';
import { type Command, Help, type Option } from 'commander';
import { checks } from '../../src/checks/conformance/index.ts';
import { rules } from '../../src/policy/index.ts';
import { layers } from '../architecture/layers.ts';
import { idleProgram } from './program-report.ts';
import { terminalImage } from './terminal-image.ts';

const root = new URL('../../', import.meta.url);

/** A heading with a list below it. */
const section = (heading: string, lines: readonly string[]) =>
  `### ${heading}\n\n${lines.map((line) => `- ${line}`).join('\n')}`;

function rulesList(): string {
  const sections = Map.groupBy(rules, ({ upstream, severity }) => {
    if (upstream) {
      return "Denied, also by Cluster API's own webhook";
    }
    return severity === 'deny' ? 'Denied' : 'Warnings';
  });
  return [...sections]
    .map(([heading, group]) =>
      section(
        heading,
        group.map(({ id, summary }) => `\`${id}\`: ${summary}`),
      ),
    )
    .join('\n\n');
}

const checksList = () =>
  checks
    .map(({ id, level, requirement }) => `- \`${id}\`${level === 'must' ? '' : ` (${level})`}: ${requirement}`)
    .join('\n');

const layersList = () => layers.map(({ name, knows }) => `- \`${name}/\`: ${knows}`).join('\n');

const helpWidth = 80;

/** The help of a command as `--help` prints it, without the flags of `shared`, which are named. */
function helpOf(command: Command, shared: ReadonlyMap<string, unknown>): string {
  let text = '';
  command.configureOutput({
    ...command.configureOutput(),
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => helpWidth,
  });
  const below = command.options.filter((option) => shared.has(helpItemOf(option, command)));
  for (const option of below) {
    option.hideHelp();
  }
  if (command.parent !== null) {
    command.helpOption(false);
  }
  command.outputHelp();
  const [own = ''] = text.trimEnd().split('\n\nEach flag can also be set ');
  return below.length === 0 ? own : `${own}\n\nFlags explained at the end:\n${namesOf(below)}`;
}

const namesOf = (options: readonly Option[]) => wrapped(options.map(({ long }) => `${long}`).join(', '), '  ');

function wrapped(text: string, indent: string): string {
  return new Help()
    .boxWrap(text, helpWidth - indent.length)
    .split('\n')
    .map((line) => `${indent}${line}`)
    .join('\n');
}

/** What the help of a command says about a flag. */
function helpItemOf(option: Option, command: Command): string {
  const help = Object.assign(command.createHelp(), { helpWidth });
  return help.formatItem(help.optionTerm(option), 26, help.optionDescription(option), help);
}

/** The help of all commands. A flag that several of them have is explained once, at the end. */
async function commandReference(): Promise<string> {
  const program = await idleProgram();
  const commands = program.commands.flatMap((command) => [command, ...command.commands]);
  const flags = commands.flatMap((command) =>
    command.options.map((option) => ({ command, name: option.flags, item: helpItemOf(option, command) })),
  );
  const shared = new Map([...Map.groupBy(flags, ({ item }) => item)].filter(([, { length }]) => length > 1));
  const names = [...shared.values()].map(([first]) => first?.name);
  const sharedHelp = [...shared].map(([item, owners]) => {
    const isAmbiguous = names.filter((name) => name === owners[0]?.name).length > 1;
    const ownerNames = owners.map(({ command }) => fullNameOf(command)).join(', ');
    return isAmbiguous ? `${item}\n${wrapped(`(${ownerNames})`, ' '.repeat(30))}` : item;
  });
  const parts = [program, ...commands].map((command) => helpOf(command, shared));
  return `${[...parts, `Flags of several commands:\n${sharedHelp.join('\n')}`].join('\n\n\n')}\n`;
}

function fullNameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${fullNameOf(parent)} ${command.name()}` : command.name();
}

/** Pages with generated parts, which stand between `<!-- NAME -->` and `<!-- /NAME -->`. */
const parts: readonly { file: string; name: string; make: () => string | Promise<string> }[] = [
  { file: 'docs/rules.md', name: 'rules', make: rulesList },
  { file: 'docs/conformance.md', name: 'checks', make: checksList },
  { file: 'docs/architecture.md', name: 'layers', make: layersList },
];

/** Generated documentation: files, and the text that each should have. */
export async function generatedPages(): Promise<{ file: URL; text: string }[]> {
  const pages = await Promise.all(
    parts.map(async ({ file, name, make }) => {
      const url = new URL(file, root);
      const [before, rest] = readFileSync(url, 'utf8').split(`<!-- ${name} -->`);
      const after = rest?.split(`<!-- /${name} -->`)[1];
      if (before === undefined || after === undefined) {
        throw new Error(`${file} has no part <!-- ${name} --> … <!-- /${name} -->`);
      }
      return { file: url, text: `${before}<!-- ${name} -->\n\n${await make()}\n\n<!-- /${name} -->${after}` };
    }),
  );
  const images = ['terminal', 'plan', 'conformance'].map((name) => ({
    file: new URL(`docs/images/${name}.svg`, root),
    text: terminalImage(readFileSync(new URL(`docs/images/${name}.txt`, root), 'utf8')),
  }));
  const reference = { file: new URL('docs/commands.txt', root), text: await commandReference() };
  return [...pages, ...images, reference];
}
