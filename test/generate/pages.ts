import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { wholeProgram } from '../../src/commands/index.ts';
import { checks } from '../../src/conformance/index.ts';
import { rules } from '../../src/rules/index.ts';
import { type Imports, importsWithin, readImports, roomImports } from '../architecture/imports.ts';
import { type Room, rooms } from '../architecture/rooms.ts';
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
    ({ id, group, level, asks, why }) => `| ${group} | \`${id}\` | ${level} | ${cell(asks)} | ${cell(why)} |`,
  );
  return ['| about | check | level | what it requires | why |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

function roomsTable(): string {
  function rowsOf(list: readonly Room[], imports: Imports, path: string): string[] {
    const graph = roomImports(imports);
    return list.flatMap(({ name, knows, within }) => {
      const imported = list.filter((other) => graph.get(name)?.has(other.name)).map((other) => other.name);
      const inner = within === undefined ? [] : rowsOf(within, importsWithin(imports, name), `${path}${name}/`);
      return [`| \`${path}${name}/\` | ${knows} | ${imported.join(', ') || '–'} |`, ...inner];
    });
  }
  const rows = rowsOf(rooms, readImports(fileURLToPath(new URL('src', root))), '');
  return ['| room | knows | imports |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The help of a command and its subcommands, one heading each. */
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
  const below = command.commands.map((child) => helpOf(child, `${heading} ${child.name()}`.trim()));
  const title = heading === '' ? [] : [`### ${heading}`];
  return [...title, `\`\`\`console\n${text.trimEnd()}\n\`\`\``, ...below].join('\n\n');
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
  { file: 'docs/architecture.md', name: 'rooms', make: roomsTable },
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
