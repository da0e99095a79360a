import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { wholeProgram } from '../../../src/cli/index.ts';
import { runProgram } from './io.ts';

const sample = readFileSync('manifests/samples/good-v1alpha1.yaml', 'utf8');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flags-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the environment variable of a flag', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('sets it, and is named where its value is not allowed', async () => {
    vi.stubEnv('EXTENSIONCONFIG_PORT', '9443 ');
    const { code, stderr } = await runProgram(['serve', '--self-signed']);
    expect(code).toBe(2);
    expect(stderr).toContain('EXTENSIONCONFIG_PORT: "9443 " is not allowed: it must be a whole number from 0 to 65535');
  });

  test('gives way to the command line, and is none of another command', async () => {
    vi.stubEnv('EXTENSIONCONFIG_PORT', 'x');
    expect((await runProgram(['serve', '--port', 'y'])).stderr).toContain('--port: "y" is not allowed');
    vi.stubEnv('EXTENSIONCONFIG_OUTPUT', 'json');
    expect((await runProgram(['rules'])).stdout).toMatch(/^RULE/);
  });
});

test('repeatable flags are concatenated', async () => {
  const [spaced, file] = ['ends with a space ', 'extension.yaml'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(spaced, sample);
  writeFileSync(file, sample);
  const { code, stdout } = await runProgram(['convert', '--to', 'v1alpha1', '-f', spaced, '-f', file]);
  expect([code, stdout]).toEqual([0, `${sample}---\n${sample}`]);
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
    [['certs', 'rotat'], '(Did you mean rotate?)'],
    [['lint', '--profil', 'strict'], "unknown option '--profil'\n(Did you mean --profile?)"],
    [['rules', 'name-label'], 'did you mean name-dns-label'],
    [['completion', 'tcsh'], "'tcsh' is invalid for argument 'SHELL'. Allowed choices are bash, zsh, fish."],
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
    // But for words that are longer than the room for a description.
    expect(stdout.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '))).toEqual([]);
  });

  test('of a command is also printed by "help"', async () => {
    for (const word of ['lint', 'certs']) {
      const asked = await runProgram(['help', word]);
      expect(asked.code).toBe(0);
      expect(asked.stdout).toBe((await runProgram([word, '--help'])).stdout);
    }
  });

  test('of a command that does not exist is an error', async () => {
    expect((await runProgram(['help', 'lnt'])).code).toBe(2);
  });

  test('lists every command in a group', async () => {
    const { stdout } = await runProgram(['--help']);
    const headings = stdout.split('\n').filter((line) => /^\S.*:$/.test(line));
    expect(headings).toEqual([
      'Options:',
      'Before a change:',
      'Guard a cluster:',
      'Write extensions:',
      'Try:',
      'Other:',
    ]);
  });

  test('names defaults, choices and environment variables', async () => {
    const { stdout } = await runProgram(['serve', '--help']);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).toContain(
      '--port <PORT> port of the server (HTTPS); 0: any free port (default: 9443; env: EXTENSIONCONFIG_PORT)',
    );
    expect(text).toContain('(one of deny, warn; default: deny)');
    expect(text).toContain(
      '--host <HOST> address to listen on, with both ports (default: all interfaces; env: EXTENSIONCONFIG_HOST)',
    );
  });
});

test.each([
  ['rules', '-o', 'json'],
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
