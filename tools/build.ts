// Makes dist/, what the package and the image run: `npm run build`.
import { execFile, execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { bundle } from './bundle.ts';
import { keepDeclarationsOf } from './declarations.ts';

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

/** Checks the types and writes the declaration files of the library. */
async function compile(): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']);
  } catch (error) {
    throw new Error((error as { stdout?: string }).stdout || String(error));
  }
  keepDeclarationsOf('dist/library');
}

rmSync('dist', { recursive: true, force: true });
const results = await Promise.allSettled([
  compile(),
  bundle('src', 'dist', {
    // The viewer of OpenAPI documents: its bundle needs none of the packages that npm installs beside it.
    'messages/openapi/openapi-explorer.min.js': 'node_modules/openapi-explorer/dist/browser/openapi-explorer.min.js',
  }),
]);
const problems = results
  .filter((result) => result.status === 'rejected')
  .map(({ reason }) => (reason as Error).message);
if (problems.length === 0) {
  writeFileSync('dist/commit', commit());
} else {
  // Half a build is not packed by mistake.
  rmSync('dist', { recursive: true, force: true });
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}
