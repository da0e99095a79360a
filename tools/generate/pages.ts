import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Command, Option } from 'commander';
import { checks } from '../../src/checks/conformance/index.ts';
import { wholeProgram } from '../../src/cli/index.ts';
import { rules } from '../../src/policy/index.ts';
import { folderImports, readImports } from '../architecture/imports.ts';
import { wings } from '../architecture/wings.ts';
import { terminalImage } from './terminal-image.ts';

const root = new URL('../../', import.meta.url);

function rulesTable(): string {
  const rows = rules.map(
    ({ id, severity, upstream, summary }) =>
      `| \`${id}\` | ${severity} | ${upstream ? 'upstream, strict' : 'strict'} | ${summary.replaceAll('|', '\\|')} |`,
  );
  return ['| rule | severity | profile | what it checks |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function checksTable(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const rows = checks.map(
    ({ id, group, level, requirement, reason }) =>
      `| ${group} | \`${id}\` | ${level} | ${cell(requirement)} | ${cell(reason)} |`,
  );
  return ['| about | check | level | what it requires | why |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

/** Mermaid: an arrow for each import that does not follow from other arrows. */
function wingsDrawing(imports: ReadonlyMap<string, ReadonlySet<string>>): string {
  const reaches = (from: string, to: string): boolean =>
    [...(imports.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const arrows = wings.flatMap(({ name }) =>
    [...(imports.get(name) ?? [])]
      .filter((target) => ![...(imports.get(name) ?? [])].some((between) => reaches(between, target)))
      .map((target) => `  ${name} --> ${target}`),
  );
  return ['```mermaid', 'flowchart TD', ...arrows, '```'].join('\n');
}

function wingsTable(): string {
  const imports = folderImports(readImports(fileURLToPath(new URL('src', root))));
  const rows = wings.map(({ name, knows, rooms = [] }) => {
    const imported = wings.filter((other) => imports.get(name)?.has(other.name)).map((other) => other.name);
    return `| \`${name}/\` | ${knows} | ${rooms.join(', ') || '–'} | ${imported.join(', ') || '–'} |`;
  });
  const table = ['| wing | knows | rooms | imports |', '| --- | --- | --- | --- |', ...rows].join('\n');
  return `${table}\n\nEach arrow is an import; those that follow from others are left out:\n\n${wingsDrawing(imports)}`;
}

/** The help of a command and its subcommands, one heading each. Flags that several subcommands share are listed once. */
function helpOf(command: Command, heading: string): string {
  let text = '';
  command.configureOutput({
    ...command.configureOutput(),
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 80,
  });
  command.outputHelp();
  const shared = heading === '' ? [] : sharedFlags(command);
  const below = command.commands.map((child) => helpOf(child, `${heading} ${child.name()}`.trim()));
  const title = heading === '' ? [] : [`### ${heading}`];
  return [...title, `\`\`\`console\n${text.trimEnd()}\n\`\`\``, ...shared, ...below].join('\n\n');
}

/** The flags that several subcommands have, which are then hidden in the help of each. */
function sharedFlags(group: Command): string[] {
  const owners = new Map<string, { options: Option[]; names: string[] }>();
  for (const child of group.commands) {
    for (const option of child.options) {
      const key = `${option.flags} ${option.description}`;
      const one = owners.get(key) ?? { options: [], names: [] };
      owners.set(key, { options: [...one.options, option], names: [...one.names, `\`${child.name()}\``] });
    }
  }
  const shared = [...owners.values()].filter(({ names }) => names.length > 1);
  const help = group.createHelp();
  help.prepareContext({ helpWidth: 80 });
  const width = 26;
  return [...Map.groupBy(shared, ({ names }) => names.join(', '))].map(([names, flags]) => {
    const lines = flags.map(({ options: [option, ...others] }) => {
      for (const hidden of [option as Option, ...others]) {
        hidden.hideHelp();
      }
      return help.formatItem(help.optionTerm(option as Option), width, help.optionDescription(option as Option), help);
    });
    return `Flags of ${names}:\n\n\`\`\`console\n${lines.join('\n')}\n\`\`\``;
  });
}

async function commandReference(): Promise<string> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const program = await wholeProgram({ stdin, stdout, stderr, env: {}, signal: new AbortController().signal });
  return helpOf(program, '');
}

/** Pages with generated parts, which stand between `<!-- NAME -->` and `<!-- /NAME -->`. */
const parts: readonly { file: string; name: string; make: () => string | Promise<string> }[] = [
  { file: 'docs/rules.md', name: 'rules', make: rulesTable },
  { file: 'docs/conformance.md', name: 'checks', make: checksTable },
  { file: 'docs/architecture.md', name: 'wings', make: wingsTable },
  { file: 'docs/command-line.md', name: 'commands', make: commandReference },
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
  const images = ['terminal', 'conformance'].map((name) => ({
    file: new URL(`docs/images/${name}.svg`, root),
    text: terminalImage(readFileSync(new URL(`docs/images/${name}.txt`, root), 'utf8')),
  }));
  return [...pages, ...images];
}
