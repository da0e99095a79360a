import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** Copies files and folders of the project to an empty folder, which it returns. */
export function copyProject(paths: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'package-'));
  for (const path of paths) {
    cpSync(join(projectFolder, path), join(folder, path), { recursive: true });
  }
  return folder;
}

/** What a program printed, and how it ended. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end, with the Node.js of this test first on the path. */
export function run(folder: string, command: string, args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };
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
