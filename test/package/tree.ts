import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** Copies files and folders of the project to a folder, else to a new one, which it returns. */
export function copyProject(paths: readonly string[], folder = mkdtempSync(join(tmpdir(), 'package-'))): string {
  for (const path of paths) {
    cpSync(join(projectFolder, path), join(folder, path), { recursive: true });
  }
  return folder;
}

/**
 * Makes a folder that has the files of another: the same files by hard links, or copies where the file system has no links.
 * What is in the new folder may be deleted and replaced, but not changed in place; for `.package-lock.json`, which npm
 * changes so, there is a copy. Folders whose path is in `leftOut` stay behind.
 */
export async function linkFolder(from: string, to: string, leftOut: ReadonlySet<string> = new Set()): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (leftOut.has(source)) {
      continue;
    }
    if (entry.isDirectory()) {
      await linkFolder(source, target, leftOut);
    } else if (entry.isSymbolicLink()) {
      await symlink(await readlink(source), target);
    } else if (entry.name === '.package-lock.json') {
      await copyFile(source, target);
    } else {
      await link(source, target).catch(() => copyFile(source, target));
    }
  }
}

/** Whether npm is to fetch and unpack all it is asked to, as where nothing is installed yet: FROM_REGISTRY=true. */
export const fromRegistry = process.env.FROM_REGISTRY === 'true';

/**
 * Gives a folder the packages that `npm ci` unpacked in the checkout, half a minute of work: what the program needs, and of
 * what is for development only paths that match `alsoKept`.
 */
export async function linkDependencies(folder: string, alsoKept?: RegExp): Promise<void> {
  const { packages } = JSON.parse(readFileSync(join(projectFolder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const leftOut = Object.entries(packages).flatMap(([path, { dev, devOptional }]) =>
    (dev === true || devOptional === true) && alsoKept?.test(path) !== true ? [join(projectFolder, path)] : [],
  );
  await linkFolder(join(projectFolder, 'node_modules'), join(folder, 'node_modules'), new Set(leftOut));
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
