import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run, wholeProgram } from '../../../src/cli/index.ts';
import { eventually } from '../../sandbox/client.ts';
import { runProgram } from './io.ts';

const sample = readFileSync('manifests/samples/good-v1alpha1.yaml', 'utf8');
let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flags-'));
  file = join(folder, 'extension.yaml');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('an environment variable belongs to one command', () => {
  test.each([
    ['of no command', { EXTENSIONCONFIG_WEBHOOK_WRITE: 'true' }, 0, sample],
    ['of another command', { EXTENSIONCONFIG_WEBHOOK_LINT_WRITE: 'true' }, 0, sample],
    ['of convert', { EXTENSIONCONFIG_WEBHOOK_CONVERT_WRITE: 'true' }, 0, sample.replace('/v1alpha1', '/v1beta2')],
    ['of convert, false', { EXTENSIONCONFIG_WEBHOOK_CONVERT_WRITE: 'false' }, 0, sample],
    ['of convert, empty', { EXTENSIONCONFIG_WEBHOOK_CONVERT_WRITE: '' }, 0, sample],
    ['of convert, invalid', { EXTENSIONCONFIG_WEBHOOK_CONVERT_WRITE: '1' }, 2, sample],
  ])('convert only writes if its own variable says so: %s', async (_name, env, code, expected) => {
    writeFileSync(file, sample);
    expect((await runProgram(['convert', file], { env })).code).toBe(code);
    expect(readFileSync(file, 'utf8')).toBe(expected);
  });

  test('the port of serve does not affect the sandbox', async () => {
    const stop = new AbortController();
    const env = { EXTENSIONCONFIG_WEBHOOK_SERVE_PORT: '9443', EXTENSIONCONFIG_WEBHOOK_PORT: 'x' };
    const kubeconfig = join(folder, 'kubeconfig');
    const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough().resume(), env };
    const ended = run(['sandbox', '--no-extension', '--no-controller', '--write-kubeconfig', kubeconfig], {
      ...io,
      signal: stop.signal,
    });
    await eventually(async () => existsSync(kubeconfig), Boolean);
    const port = /https:\/\/127\.0\.0\.1:(\d+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1];
    stop.abort();
    expect(await ended).toBe(0);
    expect(port).toMatch(/^\d+$/);
    expect(port).not.toBe('9443');
  });

  test('the command line takes precedence', async () => {
    const env = { EXTENSIONCONFIG_WEBHOOK_RULES_OUTPUT: 'json' };
    expect((await runProgram(['rules'], { env })).stdout).toMatch(/^\[/);
    expect((await runProgram(['rules', '--output', 'text'], { env })).stdout).toMatch(/^RULE/);
  });

  test('values are separated by commas, with spaces; on the command line they are taken as they are', async () => {
    const spaced = join(folder, 'ends with a space ');
    writeFileSync(spaced, sample);
    writeFileSync(file, sample);
    const env = { EXTENSIONCONFIG_WEBHOOK_CONVERT_FILENAME: `${file} , ${file}` };
    expect(await runProgram(['convert', '--to', 'v1alpha1'], { env })).toMatchObject({ code: 0, stdout: sample });
    expect(await runProgram(['convert', '--to', 'v1alpha1', '-f', spaced])).toMatchObject({ code: 0, stdout: sample });
  });

  test('a misspelled variable is not ignored', async () => {
    const { code, stderr } = await runProgram(['serve'], { env: { EXTENSIONCONFIG_WEBHOOK_SERVE_CLIENT_CA: 'x' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/SERVE_CLIENT_CA: unknown .*; did you mean EXTENSIONCONFIG_WEBHOOK_SERVE_CLIENT_CA_FILE\b/);
  });
});

test('repeatable flags are concatenated, and separated by commas in the environment', async () => {
  const hooks = (hook: string) =>
    `hooks:\n  - {group: hooks.example.com, version: v1, hook: ${hook}, introduced: "1.9"}\n`;
  const [one, two] = ['one.yaml', 'two.yaml'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(one, hooks('One'));
  writeFileSync(two, 'hooks: 5');
  const flags = await runProgram(['lint', '-', '--hook-lifecycles', one, '--hook-lifecycles', two]);
  expect(flags.stderr).toContain(`--hook-lifecycles: ${two}: `);
  const env = { EXTENSIONCONFIG_WEBHOOK_LINT_HOOK_LIFECYCLES: `${one},${two}` };
  expect((await runProgram(['lint', '-'], { env })).stderr).toContain(`--hook-lifecycles: ${two}: `);
});

/** Every command and subcommand. */
async function allCommands(): Promise<string[]> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const names = (command: Command): string[] =>
    command.commands.flatMap((child) => [child.name(), ...names(child).map((name) => `${child.name()} ${name}`)]);
  const program = await wholeProgram({ stdin, stdout, stderr, env: {}, signal: new AbortController().signal });
  return ['', ...names(program)];
}
const commands = await allCommands();

describe('a misspelled name', () => {
  test.each([
    [['lnt'], "extensionconfig-webhook: unknown command 'lnt'\n(Did you mean lint?)\n"],
    [['openapi', 'mrge'], "extensionconfig-webhook: unknown command 'mrge'\n(Did you mean merge?)\n"],
    [['certs', 'rotat'], '(Did you mean rotate?)'],
    [['lint', '--profil', 'strict'], "unknown option '--profil'\n(Did you mean --profile?)"],
    [['rules', 'name-label'], 'did you mean name-dns-label'],
    [['completion', 'tcsh'], 'completion: "tcsh" is not allowed: it must be one of bash, zsh, fish'],
  ])('%j', async (args, message) => {
    const { code, stderr } = await runProgram(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('help', () => {
  test.each(commands)('of "%s" fits 80 columns', async (command) => {
    const { code, stdout } = await runProgram([...command.split(' ').filter(Boolean), '--help']);
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('of flags fits a narrow terminal', async () => {
    const stdout = Object.assign(new PassThrough({ encoding: 'utf8' }), { columns: 40 });
    const io = { stdin: new PassThrough(), stderr: new PassThrough(), env: {}, signal: new AbortController().signal };
    expect(await run(['certs', 'rotate', '--help'], { ...io, stdout })).toBe(0);
    const [, flags = ''] = String(stdout.read()).split(/^Options:$|^Each flag/m);
    expect(flags).toContain('--propagation-delay <DURATION>');
    // But for words that are longer than a line of their description.
    expect(flags.split('\n').filter((line) => line.length > 40 && line.slice(20).includes(' '))).toEqual([]);
  });

  test('of a command is also printed by "help", and of its subcommands', async () => {
    for (const words of [['lint'], ['certs'], ['certs', 'bootstrap'], ['hooks', 'diff']]) {
      const asked = await runProgram(['help', ...words]);
      expect(asked.code).toBe(0);
      expect(asked.stdout).toBe((await runProgram([...words, '--help'])).stdout);
    }
  });

  test('of a command that does not exist is an error', async () => {
    expect(await runProgram(['help', 'lnt'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining("unknown command 'lnt'\n(Did you mean lint?)"),
    });
  });

  test('lists every command in a group', async () => {
    const { stdout } = await runProgram(['--help']);
    const headings = stdout.split('\n').filter((line) => /^\S.*:$/.test(line));
    expect(headings).toEqual(['Options:', 'Run in a cluster:', 'Manifests:', 'Extensions:', 'Try:', 'Other:']);
  });

  test('names defaults, choices and the environment variables', async () => {
    const { stdout } = await runProgram(['serve', '--help']);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).toContain('--port <PORT> port of the webhooks (HTTPS); 0: any free port (default: 9443)');
    expect(text).toContain('(one of deny, warn; default: deny)');
    expect(text).toContain('--host <HOST> address that the webhooks listen on (default: all interfaces)');
    expect(text).toContain('--port: EXTENSIONCONFIG_WEBHOOK_SERVE_PORT');
  });
});

test.each([
  ['rules', '-o', 'json'],
  ['version', '-o', 'json'],
  ['hooks', '-o', 'json'],
])('%s %s is --output', async (command, short, format) => {
  const [long, brief] = await Promise.all([
    runProgram([command, '--output', format]),
    runProgram([command, short, format]),
  ]);
  expect(brief).toEqual(long);
  expect(brief.code).toBe(0);
});

test('-q is --quiet', async () => {
  const stdin = 'apiVersion: runtime.cluster.x-k8s.io/v1alpha1\nkind: ExtensionConfig\n';
  const [long, brief] = await Promise.all(['--quiet', '-q'].map((flag) => runProgram(['lint', flag, '-'], { stdin })));
  expect(brief).toEqual(long);
  expect(brief?.stdout).not.toContain('warning');
});
