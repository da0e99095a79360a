import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

/** The folder of the project. */
export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** The version in package.json. */
export const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as { version: string };

/** What a program printed, and its exit code. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end, with the Node.js of this test first on the path. */
export function run(
  folder: string,
  command: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  // The home directory of the user may not be writable here.
  const env = { ...process.env, npm_config_cache: join(inject('runFolder'), 'npm'), PATH, ...more };
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    const error: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => error.push(chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(error).toString() }),
    );
  });
}

/** Runs a program that must succeed; returns what it printed. */
export async function runWell(folder: string, command: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(folder, command, args);
  if (code !== 0) {
    throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
  }
  return stdout;
}
