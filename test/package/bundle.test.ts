import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bundle } from '../../tools/bundle.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  write('package.json', '{"type":"module"}');
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const make = (elsewhere = {}) => bundle(join(folder, 'src'), join(folder, 'dist'), elsewhere);
const start = (file: string): unknown =>
  JSON.parse(execFileSync(process.execPath, [join(folder, file)], { encoding: 'utf8' }));

test('a module finds in a chunk what it finds in the sources: files, other modules, the package, its dependencies', async () => {
  write('LICENSE', 'free');
  write('node_modules/dependency/package.json', '{"version":"1.0.0"}');
  write('src/rooms/deep/neighbour.txt', 'next door');
  write('src/rooms/deep/thread.ts', 'export const name: string = "thread";');
  write(
    'src/rooms/deep/place.ts',
    `import { readFileSync } from 'node:fs';
    import { createRequire } from 'node:module';
    import { extname } from 'node:path';
    const neighbour = new URL('./neighbour.txt', import.meta.url);
    const thread = new URL(\`./thread\${extname(import.meta.url)}\`, import.meta.url);
    export const found = async () => ({
      neighbour: readFileSync(neighbour, 'utf8'),
      thread: (await import(thread.href)).name,
      license: readFileSync(new URL('../../../LICENSE', import.meta.url), 'utf8'),
      dependency: createRequire(import.meta.url)('dependency/package.json').version,
    });`,
  );
  // Both entries have it, so that it is in a chunk of its own; then in each of two entries, at two depths.
  const print = (path: string) => `import { found } from '${path}'; console.log(JSON.stringify(await found()));`;
  const found = { neighbour: 'next door', thread: 'thread', license: 'free', dependency: '1.0.0' };
  write('src/main.ts', print('./rooms/deep/place.ts'));
  write('src/library/rules.ts', print('../rooms/deep/place.ts'));
  await make();
  expect(existsSync(join(folder, 'dist/chunks/place.js'))).toBe(true);
  for (const file of ['src/main.ts', 'src/library/rules.ts', 'dist/main.js', 'dist/library/rules.js']) {
    expect(start(file), file).toEqual(found);
  }
  write('src/main.ts', 'console.log("{}");');
  await make();
  expect(readFileSync(join(folder, 'dist/library/rules.js'), 'utf8')).toContain('./neighbour.txt');
  expect(start('dist/library/rules.js')).toEqual(found);
});

test('what two entries import is there once, and what is imported when it is needed is loaded then', async () => {
  write('src/state.ts', 'export const state: { count: number } = { count: 0 };');
  write('src/library/rules.ts', `import { state } from '../state.ts'; export const add = () => ++state.count;`);
  write('src/lazy.ts', `console.log('loaded'); export const lazy: number = 1;`);
  write(
    'src/main.ts',
    `import { state } from './state.ts';
    const library = './library/rules.js';
    (await import(library)).add();
    if (process.argv.length > 5) await import('./lazy.ts');
    console.log(state.count);`,
  );
  await make();
  expect(start('dist/main.js')).toBe(1);
});

test('a file that is elsewhere in a checkout is beside its module in the bundle', async () => {
  write('node_modules/viewer/viewer.min.js', 'view()');
  write('src/main.ts', `console.log(JSON.stringify(new URL('./pages/viewer.js', import.meta.url)));`);
  await make({ 'pages/viewer.js': join(folder, 'node_modules/viewer/viewer.min.js') });
  expect(readFileSync(new URL(String(start('dist/main.js'))), 'utf8')).toBe('view()');
});

test.each([
  ['import.meta.dirname', 'export const here: string = import.meta.dirname;', 'use import.meta.url'],
  ['a module that is missing', `import './missing.ts';`, './missing.ts'],
  ['a file that is missing', `console.log(new URL('./missing.txt', import.meta.url));`, 'missing.txt'],
  ['a name that is not exported', `import { none } from './library/rules.ts'; console.log(none);`, 'none'],
])('%s fails the build', async (_, text, problem) => {
  write('src/library/rules.ts', 'export const some: number = 1;');
  write('src/main.ts', text);
  await expect(make()).rejects.toThrow(problem);
});
