// npm run pack -- DIR: builds the npm packages and writes their tarballs into DIR.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeTarballs } from './tarballs.ts';

const [target, ...rest] = process.argv.slice(2);
if (target === undefined || target.startsWith('-') || rest.length > 0) {
  process.stderr.write('usage: npm run pack -- DIR\nwrites the tarballs of both npm packages into DIR\n');
  process.exit(2);
}
const scratch = mkdtempSync(join(tmpdir(), 'packages-'));
try {
  for (const tarball of await writeTarballs(resolve(process.env.INIT_CWD ?? '.', target), scratch)) {
    process.stdout.write(`${join(target, tarball)}\n`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
