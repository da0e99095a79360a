// The part of `npm run lint` that is Biome: for the files that have changed since it passed here, and for all of them where
// Biome itself or a setting has changed. Its rules look at one file at a time (those of its domain `project` would not), and all
// files take it four seconds of a processor.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Passed, toCheck } from './unchanged.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const memory = join(root, 'node_modules/.cache/biome.json');
/** What the answers of Biome depend on beside the file in question. */
const settings = ['node_modules/@biomejs/biome/package.json', 'biome.json', 'package.json', '.gitignore'];

const hash = (...texts: Buffer[]) => texts.reduce((sum, text) => sum.update(text), createHash('sha256')).digest('hex');

/** What is here now; undefined where git does not say which files are the project's. */
function present(): Passed | undefined {
  try {
    const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    const names = list
      .toString()
      .split('\0')
      .filter((name) => name !== '' && existsSync(join(root, name)));
    return {
      settings: hash(...settings.map((name) => readFileSync(join(root, name)))),
      files: Object.fromEntries(names.map((name) => [name, hash(readFileSync(join(root, name)))])),
    };
  } catch {
    return undefined;
  }
}

function remembered(): Passed | undefined {
  try {
    return JSON.parse(readFileSync(memory, 'utf8')) as Passed;
  } catch {
    return undefined;
  }
}

const now = present();
const paths = now === undefined ? ['.'] : toCheck(now, remembered());
if (paths.length > 0) {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const flags = ['--no-errors-on-unmatched', '--files-ignore-unknown=true'];
  const { status } = spawnSync(process.execPath, [biome, 'check', ...flags, ...paths], { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
if (now !== undefined && paths.length > 0 && process.exitCode === 0) {
  mkdirSync(dirname(memory), { recursive: true });
  writeFileSync(memory, JSON.stringify(now));
}
