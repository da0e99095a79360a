import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { runProgram } from './io.ts';

const cases: readonly [words: string[], candidates: string[], directive: number][] = [
  [['l'], ['lint'], 4],
  [['help', 'co'], ['convert', 'controller', 'conformance', 'completion'], 4],
  [['certs', 'r'], ['rotate'], 4],
  [['certs', 'rotate', '--se'], ['--service', '--secret', '--selector'], 4],
  [['certs', 'rotate', '--force', ''], ['none', 'serving', 'ca'], 4],
  [['lint', '--profile', ''], ['strict', 'upstream'], 4],
  [['lint', '--profile=u'], ['upstream'], 4],
  [['lint', '--rules-config', ''], [], 0],
  [['serve', '--cert-dir', ''], [], 0],
  [['serve', '--port', ''], [], 4],
  [['lint', '--max-warnings', '3', ''], [], 0],
  [['lint', 'a.yaml', 'b'], [], 0],
  [['rules', 'name-d'], [], 4],
  [['completion', ''], ['bash', 'zsh', 'fish'], 4],
  [['openapi', 'm'], ['merge'], 4],
  [['openapi', 'merge', ''], [], 0],
  [['template-types', ''], [], 0],
  [['new-extension', ''], [], 0],
];

test.each(cases)('candidates for %j', async (words, candidates, directive) => {
  const { code, stdout } = await runProgram(['__complete', '--', ...words]);
  const lines = stdout.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(lines.slice(0, -1).map((line) => line.split('\t')[0])).toEqual(candidates);
  expect(lines.at(-1)).toBe(`:${directive}`);
});

test('all commands are offered, with their summaries', async () => {
  const { stdout } = await runProgram(['__complete', '--', '']);
  const { stdout: help } = await runProgram(['--help']);
  const offered = stdout.split('\n').slice(0, -2);
  expect(offered).toContain('lint\tcheck ExtensionConfigs in files against the rules of the webhook');
  for (const line of offered) {
    expect(help).toContain(`\n  ${line.split('\t')[0]} `);
  }
});

// The scripts as shells run them. The program they call asks this process for its answers: a start of the program takes
// a quarter of a second, and kubectl's completion below shows one.
/** Ends a question: each word before it ends with a NUL. */
const end = '\0\u0004\0';
let folder: string;
let env: NodeJS.ProcessEnv;
let server: Server;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
  mkdirSync(join(folder, 'manifests'));
  writeFileSync(join(folder, 'manifests/with space.yaml'), '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(folder, `completion.${shell}`), (await runProgram(['completion', shell])).stdout);
  }
  server = createServer((socket) => {
    let asked = '';
    socket.on('data', async (chunk) => {
      asked += chunk;
      if (asked.endsWith(end)) {
        socket.end((await runProgram(asked.slice(0, -end.length).split('\0'))).stdout);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  mkdirSync(join(folder, 'bin'));
  const program = join(folder, 'bin/extensionconfig-webhook');
  writeFileSync(
    program,
    `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port}
printf '%s\\0' "$@" $'\\4' >&3
cat <&3
`,
    { mode: 0o755 },
  );
  // Without a UTF-8 locale, fish does not find programs below a folder with non-ASCII letters.
  env = { ...process.env, LC_ALL: 'C.UTF-8', PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter) };
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** Writes a script, runs it with a shell in the folder, and returns the lines that it printed. */
async function runShell(shell: string, script: string, args: string[] = []): Promise<string[]> {
  const file = join(folder, `script.${shell}`);
  writeFileSync(file, script);
  const options = { cwd: join(folder, 'manifests'), env, timeout: 60_000 };
  const { stdout } = await promisify(execFile)(shell, [...args, file], options);
  return stdout.split('\n').filter((line) => line !== '');
}

/** What a shell offers for each line of words (or of text), with what it offers. One shell for all. */
type Offers<Line> = [line: Line, offered: string[]][];

/** Runs a part of a script for each line, in one shell; compares what each part prints. */
async function expectOffers<Line>(
  shell: string,
  prepare: string,
  offers: Offers<Line>,
  partFor: (line: Line) => string,
  args: string[],
): Promise<void> {
  const end = 'end of a part';
  const parts = offers.map(([line]) => `${partFor(line)}\necho '${end}'\n`);
  const printed = (await runShell(shell, `${prepare}\necho '${end}'\n${parts.join('')}`, args)).join('\n');
  const found = printed.split(new RegExp(`^${end}$\\n?`, 'm')).slice(1, -1);
  expect(found.map((text) => text.split('\n').filter((line) => line !== ''))).toEqual(
    offers.map(([, offered]) => offered),
  );
}

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');

describe('bash', () => {
  const expectCompletions = (offers: Offers<string[]>) =>
    expectOffers(
      'bash',
      'set -u\nsource ../completion.bash',
      offers,
      (words) => `unset COMPREPLY
COMP_WORDS=(extensionconfig-webhook ${quoted(words)})
COMP_CWORD=${words.length}
_extensionconfig_webhook_complete
printf '%s\\n' \${COMPREPLY[@]+"\${COMPREPLY[@]}"}`,
      ['--norc'],
    );

  test('completes commands, flags, values after "=", and files', async () => {
    await expectCompletions([
      [['ru'], ['rules']],
      [
        ['certs', 'rotate', '--se'],
        ['--service', '--secret', '--selector'],
      ],
      // As bash splits --profile=u.
      [['lint', '--profile', '=', 'u'], ['upstream']],
      [
        ['lint', '--profile', '='],
        ['strict', 'upstream'],
      ],
      [['lint', 'wi'], ['with space.yaml']],
      [['serve', '--port', ''], []],
    ]);
  });

  test('evaluates nothing that was typed, and may be loaded twice', async () => {
    await expectCompletions([[['lint', '$(touch evaluated)', ''], ['with space.yaml']]]);
    const script = 'source ../completion.bash\n'.repeat(2);
    expect(await runShell('bash', `${script}complete -p extensionconfig-webhook`)).toEqual([
      'complete -F _extensionconfig_webhook_complete extensionconfig-webhook',
    ]);
  });
});

// Outside of its line editor, this is what zsh's own completion functions would be called with.
describe('zsh', needs('zsh'), () => {
  test('completes commands, flags, values and files', async () => {
    await expectOffers<string[]>(
      'zsh',
      `compdef() { print -r -- "compdef $*" }
compset() { print -r -- "compset $*" }
_files() { print -r -- "files $*" }
_describe() { print -rl -- "\${(@P)2}" }
source ../completion.zsh`,
      [
        [['ru'], ['rules:list the rules, or explain one']],
        [['certs', 'rotate', '--for'], ['--force:renew the serving certificate now, or rotate the CA too']],
        [
          ['lint', '--profile=u'],
          ['compset -P *=', 'upstream'],
        ],
        [['lint', ''], ['files ']],
        [['serve', '--port', ''], []],
      ],
      (words) => `words=(extensionconfig-webhook ${quoted(words)})
CURRENT=${words.length + 1}
_extensionconfig-webhook`,
      ['-f'],
    );
  });
});

describe('fish', needs('fish'), () => {
  test('completes commands, flags, values and files', async () => {
    await expectOffers<string>(
      'fish',
      'source ../completion.fish',
      [
        ['ru', ['rules']],
        ['certs rotate --se', ['--secret', '--selector', '--service']],
        ['lint --profile=u', ['--profile=upstream']],
        ['lint wi', ['with space.yaml']],
        ['serve --port ', []],
      ],
      // What is offered is before a tab and its description.
      (line) => `complete -C 'extensionconfig-webhook ${line}' | cut -f 1`,
      ['--allow-empty'],
    );
  });
});

describe('kubectl', needs('kubectl'), () => {
  test('completes the plugin', () => {
    const own = [resolve('bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
    const output = execFileSync('kubectl', ['__complete', 'extensionconfig', 'certs', 'r'], {
      env: { ...process.env, PATH: own },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(output).toMatch(/^rotate\t?.*\n:4\n/);
  });
});
