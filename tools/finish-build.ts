import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

// What the compiler does not bring to dist/.
for (const description of ['sandbox/writes/kubernetes.proto', 'openapi/openapi-v3.proto']) {
  copyFileSync(`src/${description}`, `dist/${description}`);
}
// The viewer of OpenAPI documents: its bundle needs none of the packages that npm installs beside it.
copyFileSync(
  'node_modules/openapi-explorer/dist/browser/openapi-explorer.min.js',
  'dist/messages/openapi/openapi-explorer.min.js',
);

/** The declaration files that somebody who imports the library reads: a fifth of those that the compiler writes. */
function readDeclarations(): Set<string> {
  const found = new Set(
    readdirSync('dist/library')
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => join('dist/library', name)),
  );
  // What is added on the way is visited, too.
  for (const file of found) {
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/["'](\.{1,2}\/[^"']+)\.(?:ts|js)["']/g)) {
      found.add(join(dirname(file), `${path}.d.ts`));
    }
  }
  return found;
}

const declarations = readDeclarations();
for (const file of globSync('dist/**/*.d.ts').filter((path) => !declarations.has(path))) {
  rmSync(file);
}

/** The commit that is built: as the image's build says it, or of this checkout; empty where there is neither. */
function commit(): string {
  if (process.env.REVISION) {
    return process.env.REVISION;
  }
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

writeFileSync('dist/commit', commit());
