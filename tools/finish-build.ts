import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';

// What the compiler does not bring to dist/.
for (const description of ['sandbox/writes/kubernetes.proto', 'openapi/openapi-v3.proto']) {
  copyFileSync(`src/${description}`, `dist/${description}`);
}
// The viewer of OpenAPI documents: its bundle needs none of the packages that npm installs beside it.
copyFileSync(
  'node_modules/openapi-explorer/dist/browser/openapi-explorer.min.js',
  'dist/messages/openapi/openapi-explorer.min.js',
);

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
