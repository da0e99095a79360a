import { spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

/** The folder of the project. */
export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Gives a folder the files of another as hard links, or as copies where the file system has no links. Files in the new
 * folder may be deleted and replaced, but not changed in place.
 */
export function linkFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      linkFolder(source, target);
    } else if (entry.isSymbolicLink()) {
      symlinkSync(readlinkSync(source), target);
    } else {
      try {
        linkSync(source, target);
      } catch {
        copyFileSync(source, target);
      }
    }
  }
}

/**
 * Gives a folder files and folders of another: folders as links, as `linkFolder` does, and other files as copies, since
 * npm writes package.json and the lockfile in place.
 */
export function takeFrom(from: string, paths: readonly string[], to: string): void {
  for (const path of paths) {
    const [source, target] = [join(from, path), join(to, path)];
    if (statSync(source).isDirectory()) {
      linkFolder(source, target);
    } else {
      cpSync(source, target);
    }
  }
}

/** Makes Node.js import packages from what is beside a linked file, not from what is beside the file it links to. */
export const keepingLinks = { NODE_PRESERVE_SYMLINKS: '1' };

/** Whether npm should fetch and unpack everything, as on a machine with nothing installed: FROM_REGISTRY=true. */
export const fromRegistry = process.env.FROM_REGISTRY === 'true';

/** The part of a package-lock.json that is read here. */
export interface Lockfile {
  /** By path; the path of the project itself is empty. */
  packages: Record<string, LockedPackage>;
}

interface LockedPackage {
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  dev?: boolean;
  devOptional?: boolean;
  /** For instance a package for another system. */
  optional?: boolean;
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** Packages in the lockfile of a folder that are not unpacked there as it says. */
export function notAsLocked(folder: string): string[] {
  const { packages } = readJson(join(folder, 'package-lock.json')) as Lockfile;
  return Object.entries(packages)
    .filter(([path, { version, optional }]) => {
      const file = join(folder, path, 'package.json');
      return existsSync(file) ? (readJson(file) as LockedPackage).version !== version : optional !== true;
    })
    .map(([path]) => path);
}

/** Dependencies in the package.json of a folder for which `npm ci` would refuse its lockfile: missing, or others there. */
export function notInLockfile(folder: string): string[] {
  const { packages } = readJson(join(folder, 'package-lock.json')) as Lockfile;
  const { '': root } = packages;
  const { dependencies, devDependencies } = readJson(join(folder, 'package.json')) as LockedPackage;
  const differing = (named: Record<string, string> = {}, locked: Record<string, string> = {}) =>
    Object.keys({ ...locked, ...named }).filter(
      (name) => named[name] !== locked[name] || packages[`node_modules/${name}`] === undefined,
    );
  return [...differing(dependencies, root?.dependencies), ...differing(devDependencies, root?.devDependencies)];
}

/** The lockfile of a folder without devDependencies, except for paths that match `alsoKept`. */
export function neededLockfile(folder: string, alsoKept?: RegExp): Lockfile {
  const lockfile = readJson(join(folder, 'package-lock.json')) as Lockfile;
  const needed = Object.entries(lockfile.packages).filter(
    ([path, { dev, devOptional }]) =>
      path !== '' && ((dev !== true && devOptional !== true) || alsoKept?.test(path) === true),
  );
  return { ...lockfile, packages: Object.fromEntries(needed) };
}

/** Gives a folder a package's files: package.json, which npm reads, and links to what is beside it. */
function linkPackage(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name === 'package.json') {
      copyFileSync(join(from, name), join(to, name));
    } else if (name !== 'node_modules') {
      // The lockfile lists nested packages itself.
      symlinkSync(join(from, name), join(to, name));
    }
  }
}

/**
 * Gives a folder packages that npm unpacked in another one, which saves half a minute: the dependencies of its project,
 * and those devDependencies whose paths match `alsoKept`. npm sees packages, which it may delete. Their files are really
 * elsewhere: programs that are to find no other packages than these need `keepingLinks`.
 */
export function linkDependencies(from: string, to: string, alsoKept?: RegExp): void {
  for (const path of Object.keys(neededLockfile(from, alsoKept).packages)) {
    // Packages for other systems are only in the lockfile.
    if (existsSync(join(from, path))) {
      linkPackage(join(from, path), join(to, path));
    }
  }
  const bin = 'node_modules/.bin';
  mkdirSync(join(to, bin));
  for (const name of readdirSync(join(from, bin))) {
    const target = readlinkSync(join(from, bin, name));
    if (existsSync(join(to, bin, target))) {
      symlinkSync(target, join(to, bin, name));
    }
  }
}

/** Gives a folder the packages that a project needs, as a link to each of them: for programs that only read them. */
export function symlinkDependencies(from: string, to: string): void {
  for (const path of Object.keys(neededLockfile(from).packages)) {
    // Nested packages come with the package that holds them.
    if (path.lastIndexOf('node_modules/') === 0 && existsSync(join(from, path))) {
      mkdirSync(dirname(join(to, path)), { recursive: true });
      symlinkSync(join(from, path), join(to, path));
    }
  }
}

/** What a program printed, and its exit code. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Node.js's compile cache (see ../tools/run-folder.ts), for programs that get an environment of their own. */
export const compiledCode = () => ({
  NODE_COMPILE_CACHE: join(inject('runFolder'), 'compiled'),
  NODE_COMPILE_CACHE_PORTABLE: '1',
});

/** Runs a program to its end, with the Node.js of this test first on the path. */
export function run(folder: string, command: string, args: readonly string[]): Promise<Ended> {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  // The home directory of the user may not be writable here.
  const cache = fromRegistry ? {} : { npm_config_cache: join(inject('runFolder'), 'npm') };
  const env = { ...process.env, ...cache, ...keepingLinks, PATH };
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
