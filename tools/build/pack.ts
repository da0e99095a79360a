// npm run pack -- DIR: builds the npm packages and writes their tarballs into DIR.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildPackages } from './build-packages.ts';
import { packages } from './packages.ts';

const [target, ...rest] = process.argv.slice(2);
if (target === undefined || target.startsWith('-') || rest.length > 0) {
  process.stderr.write('usage: npm run pack -- DIR\nwrites the tarballs of both npm packages into DIR\n');
  process.exit(2);
}
const folder = resolve(process.env.INIT_CWD ?? '.', target);
mkdirSync(folder, { recursive: true });
const built = mkdtempSync(join(tmpdir(), 'packages-'));
try {
  await buildPackages(built);
  for (const { name } of packages) {
    const file = execFileSync('npm', ['pack', join(built, name), '--pack-destination', folder, '--loglevel=error'], {
      encoding: 'utf8',
    });
    process.stdout.write(`${join(target, file.trim())}\n`);
  }
} finally {
  rmSync(built, { recursive: true, force: true });
}
