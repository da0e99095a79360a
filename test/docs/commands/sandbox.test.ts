import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { everyCommandRuns, type Ran } from '../every-command.ts';
import { root } from '../pages.ts';

everyCommandRuns(['docs/sandbox.md', 'README.md'], {
  'docs/sandbox.md': inspectSandbox,
  'README.md': inspectRehearsal,
});

async function inspectSandbox({ printed, background: [sandbox] }: Ran): Promise<void> {
  const printedBy = (part: string) => [...printed].find(([commands]) => commands.includes(part))?.[1] ?? '';
  expect(printedBy('get extensionconfigs')).toMatch(/^sample-extension +True /m);
  expect(printedBy('describe')).toMatch(/Name: +before-cluster-create\.sample-extension$/m);
  expect(printedBy('describe')).toMatch(/Normal +Discovered .* extensionconfig-webhook +discovered 16 handlers$/m);
  expect(printedBy('get events')).toMatch(
    /Warning +NotDiscovered +extensionconfig\/sample-extension +Error in discovery: .*404/m,
  );
  expect(printedBy('bad-target')).toMatch(/url and service are both set/);

  // The commands that it prints are those of the page.
  const lines = sandbox?.().match(/(?<=^ {2})kubectl .*$/gm) ?? [];
  expect(lines).toHaveLength(13);
  const onPage = new Set([...printed.keys()].flatMap((commands) => commands.split('\n')).map(withoutComment));
  for (const line of lines) {
    const command = withoutComment(line);
    const [, file = ''] = / -f '?(.*?)'?$/.exec(command) ?? [];
    expect(existsSync(file)).toBe(file !== '');
    expect(onPage).toContain(command.replace(/(?<= -f ).*\/(manifests\/.*?)'?$/, '$1'));
  }

  expect(sandbox?.()).not.toMatch(/"level":"error"/);
}

/** The README has the command to rehearse that the sandbox prints. */
async function inspectRehearsal({ printed, background: [sandbox] }: Ran): Promise<void> {
  const [, program = '', flags = ''] = /^ {2}(\S.*) (rehearse .*)$/m.exec(sandbox?.() ?? '') ?? [];
  expect(program.replaceAll("'", '')).toBe(fileURLToPath(new URL('bin/extensionconfig-webhook', root)));
  const [[commands, output] = ['', '']] = [...printed].filter(([text]) => text.includes(' rehearse '));
  expect(commands.split('\n').map(withoutComment)).toContain(`extensionconfig-webhook ${flags}`);
  expect(output).toMatch(/The lifecycle completed: .* 11 calls$/m);
  expect(sandbox?.()).not.toMatch(/"level":"error"/);
}

const withoutComment = (command: string) => command.replace(/ +#.*$/, '');
