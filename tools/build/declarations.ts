import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Writes the declaration file of each module into a folder. */
export function writeDeclarations(folder: string): void {
  execFileSync(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    ...['-p', join(root, 'tsconfig.build.json'), '--outDir', folder],
  ]);
}

/** Calls `use` with a folder that has the declaration file of each module, where what they import is found. */
export async function withDeclarations<T>(use: (declarations: string) => Promise<T>): Promise<T> {
  const folder = join(root, 'node_modules/.cache', `declarations-${process.pid}`);
  writeDeclarations(folder);
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
