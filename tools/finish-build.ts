import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

// Files that the compiler does not copy to dist/.
const descriptions = [
  'writes/kubernetes.proto',
  'openapi-documents/openapi-v2.proto',
  'openapi-documents/openapi-v3.proto',
];
for (const description of descriptions.map((name) => `sandbox/${name}`)) {
  copyFileSync(`src/${description}`, `dist/${description}`);
}
// The viewer of OpenAPI documents: its bundle needs none of the packages that npm installs next to it.
copyFileSync(
  'node_modules/openapi-explorer/dist/browser/openapi-explorer.min.js',
  'dist/runtimehooks/messages/openapi/openapi-explorer.min.js',
);

/** The declaration files that users of the library need: a fifth of those that the compiler writes. */
function readDeclarations(): Set<string> {
  const found = new Set(
    readdirSync('dist/exports')
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => join('dist/exports', name)),
  );
  // Files that are added during the loop are visited, too.
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

/** The commit that is being built: as given by the image build, or of this checkout; empty if there is neither. */
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
