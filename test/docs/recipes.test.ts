import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runProgram } from '../cli/commands/io.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = readFileSync(join(root, 'docs/recipes.md'), 'utf8');
const blocks = [...text.matchAll(/^```(yaml|sh)\n(.*?)^```/gms)].map(([, language, code]) => ({
  language,
  code: code!,
}));
const hooks = parse(readFileSync(join(root, '.pre-commit-hooks.yaml'), 'utf8'));

const folder = mkdtempSync(join(tmpdir(), 'recipes-'));
afterAll(() => rmSync(folder, { recursive: true }));
const good = join(folder, 'manifests');
cpSync(join(root, 'manifests/samples'), good, { recursive: true, filter: (source) => !source.includes('bad-') });
writeFileSync(join(folder, 'other.yaml'), 'kind: ConfigMap\n');

/** The arguments of each command of the program in a text, without redirections. */
const commands = [...text.matchAll(/npx extensionconfig-webhook ([^>\n]*)/g)].map(([, args]) =>
  args!.trim().split(' '),
);

test('there is a recipe for each place', () => {
  expect(commands.length).toBe(5);
  expect(blocks.filter(({ language }) => language === 'yaml').length).toBe(5);
});

test.each(blocks.filter(({ language }) => language === 'yaml'))('it is YAML: $code', ({ code }) => {
  expect(parse(code)).toBeInstanceOf(Object);
});

test.each(commands.map((args) => ({ args })))('its command runs: $args', async ({ args }) => {
  const where = args.includes('convert') ? [join(folder, 'other.yaml')] : [];
  const given = args.map((arg) => (arg === 'manifests' ? good : arg.endsWith('clusters') ? join(good, 'plan') : arg));
  const stdin = readFileSync(join(root, 'manifests/samples/good-service.yaml'), 'utf8');
  expect(await runProgram([...given, ...where], { stdin })).toMatchObject({ code: 0, stderr: '' });
});

test('the configuration on the page is accepted', async () => {
  const { code: configuration } = blocks.find((block) => block.code.startsWith('# .extensionconfig-lint.yaml'))!;
  writeFileSync(join(folder, '.extensionconfig-lint.yaml'), configuration);
  const { code } = await runProgram(['lint', good]);
  expect(code).toBe(0);
});

test('the pre-commit hook is the one on the page, and takes file names', async () => {
  const [hook] = hooks;
  expect(hooks).toHaveLength(1);
  expect(text).toContain(`- id: ${hook.id}\n`);
  expect(Object.keys(hook)).toEqual(['id', 'name', 'description', 'entry', 'language', 'files']);
  const [program, ...args] = hook.entry.split(' ');
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(Object.keys(bin)).toContain(program);
  expect(
    ['a.yaml', 'b/c.yml', 'd.json', 'e.yaml.txt', 'f.md'].map((name) => new RegExp(hook.files).test(name)),
  ).toEqual([true, true, true, false, false]);
  expect((await runProgram([...args, join(folder, 'other.yaml')])).code).toBe(0);
  expect((await runProgram([...args, join(root, 'manifests/samples/bad-url.yaml')])).code).toBe(1);
});
