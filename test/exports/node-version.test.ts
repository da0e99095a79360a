import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const library = new URL('../../src/exports/', import.meta.url);

test.each(
  readdirSync(library).filter((name) => name !== 'node-version.ts'),
)('%s looks at it before anything else', (name) => {
  expect(readFileSync(new URL(name, library), 'utf8')).toMatch(/^import '\.\/node-version\.ts';\n/);
});

test('an older Node.js is named, instead of a function that it lacks', () => {
  const older = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });";
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', `${older} await import(${JSON.stringify(new URL('hooks.ts', library).href)});`],
    { encoding: 'utf8' },
  );
  expect(status).toBe(1);
  expect(stderr).toContain('Error: Node.js 22 or newer is needed, and this is Node.js ');
});
