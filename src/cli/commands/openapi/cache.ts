import { createHash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir, rename, rm, utimes } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { homeFolder, makeFolder, readRegularFile } from '../../../base/index.ts';

/** Limits of the cache. */
interface CacheLimits {
  /** Maximum total size of entries, in bytes. */
  maxBytes: number;
  /** How long an unused entry is kept, in ms. */
  maxAgeMs: number;
  /** Largest entry, in bytes. */
  maxEntryBytes: number;
}

/** 256 MiB, 30 days. The documents of an API server with 500 definitions take some 40 MiB. */
export const defaultLimits: CacheLimits = {
  maxBytes: 256 * 1024 * 1024,
  maxAgeMs: 30 * 24 * 60 * 60 * 1000,
  maxEntryBytes: 64 * 1024 * 1024,
};

/** A cache of documents on disk. */
export interface DocumentCache {
  /** The entry for a key; undefined if it is missing or incomplete. */
  read(key: string): Promise<Buffer | undefined>;
  /** Stores an entry, if it can be written. */
  write(key: string, content: Buffer): Promise<void>;
  /** Removes entries that are too old, and the least recently used ones when they exceed the total size. */
  cleanUp(): Promise<void>;
}

const ownFolder = ['extensionconfig-webhook', 'openapi'];

/**
 * The folder of the cache, according to the XDG Base Directory Specification, by which a relative path is ignored;
 * undefined if there is no home folder.
 *
 * @param systemHome as for `homeFolder`.
 */
export function cacheDirectory(env: NodeJS.ProcessEnv, systemHome?: () => string): string | undefined {
  const base = env.XDG_CACHE_HOME;
  if (base !== undefined && isAbsolute(base)) {
    return join(base, ...ownFolder);
  }
  const home = homeFolder(env, systemHome);
  return home === undefined ? undefined : join(home, '.cache', ...ownFolder);
}

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const entryName = /^[0-9a-f]{64}$/;
const unfinishedName = /^[0-9a-f]{64}\.[0-9a-f]{16}$/;
/** Age from which an incomplete file is considered abandoned, in ms. */
const maxWriteMs = 60 * 60 * 1000;
/** Length of the header of an entry: the SHA-256 of the content, and a line break. */
const headBytes = 65;

/** A cache that stores nothing. */
export const noCache: DocumentCache = {
  read: () => Promise.resolve(undefined),
  write: () => Promise.resolve(),
  cleanUp: () => Promise.resolve(),
};

/** Why a folder cannot be trusted, or undefined. Other users who can write to it could forge documents of a server. */
function problemOf(found: Stats): string | undefined {
  if (!found.isDirectory()) {
    return 'is not a folder';
  }
  if (process.getuid !== undefined && found.uid !== process.getuid()) {
    return 'belongs to another user';
  }
  return process.platform !== 'win32' && (found.mode & 0o022) !== 0
    ? 'is writable by other users (fix that with chmod 700)'
    : undefined;
}

/** An entry on disk. */
interface KeptEntry {
  file: string;
  size: number;
  mtimeMs: number;
}

/** The files of a cache in a folder that can be trusted. */
class FolderCache implements DocumentCache {
  readonly #directory: string;
  readonly #limits: CacheLimits;
  readonly #now: () => number;

  constructor(directory: string, limits: CacheLimits, now: () => number) {
    this.#directory = directory;
    this.#limits = limits;
    this.#now = now;
  }

  #fileOf(key: string): string {
    return join(this.#directory, sha256(key));
  }

  async read(key: string): Promise<Buffer | undefined> {
    const file = this.#fileOf(key);
    let bytes: Buffer;
    try {
      const found = await lstat(file);
      if (!found.isFile() || this.#now() - found.mtimeMs > this.#limits.maxAgeMs) {
        return undefined;
      }
      bytes = await readRegularFile(file, this.#limits.maxEntryBytes + headBytes);
    } catch {
      return undefined;
    }
    const content = bytes.subarray(headBytes);
    if (bytes.subarray(0, headBytes).toString('latin1') !== `${sha256(content)}\n`) {
      await rm(file, { force: true }).catch(() => {});
      return undefined;
    }
    // The time of a file is that of its last use.
    const time = new Date(this.#now());
    await utimes(file, time, time).catch(() => {});
    return content;
  }

  async write(key: string, content: Buffer): Promise<void> {
    if (content.length > this.#limits.maxEntryBytes) {
      return;
    }
    const file = this.#fileOf(key);
    const unfinished = `${file}.${randomBytes(8).toString('hex')}`;
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
      const handle = await open(unfinished, flags, 0o600);
      try {
        await handle.writeFile(`${sha256(content)}\n`);
        await handle.writeFile(content);
      } finally {
        await handle.close();
      }
      const time = new Date(this.#now());
      await utimes(unfinished, time, time);
      await rename(unfinished, file);
    } catch {
      // A full disk is not a failure: without an entry, the document is fetched again.
      await rm(unfinished, { force: true }).catch(() => {});
    }
  }

  async cleanUp(): Promise<void> {
    try {
      await this.#removeOldest(await this.#removeOld());
    } catch {
      // The next run tries again.
    }
  }

  /** Removes what is too old, and returns the entries that are left. */
  async #removeOld(): Promise<KeptEntry[]> {
    const kept: KeptEntry[] = [];
    for await (const { name } of await opendir(this.#directory)) {
      const isEntry = entryName.test(name);
      if (!isEntry && !unfinishedName.test(name)) {
        continue;
      }
      const file = join(this.#directory, name);
      const found = await lstat(file).catch(() => undefined);
      if (found === undefined) {
        continue;
      }
      if (this.#now() - found.mtimeMs > (isEntry ? this.#limits.maxAgeMs : maxWriteMs)) {
        await rm(file, { force: true });
      } else if (isEntry) {
        kept.push({ file, size: found.size, mtimeMs: found.mtimeMs });
      }
    }
    return kept;
  }

  /** Removes the least recently used entries until the others are within the total size. */
  async #removeOldest(entries: KeptEntry[]): Promise<void> {
    let total = entries.reduce((sum, { size }) => sum + size, 0);
    for (const { file, size } of entries.sort((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (total <= this.#limits.maxBytes) {
        break;
      }
      await rm(file, { force: true });
      total -= size;
    }
  }
}

/**
 * Opens the cache in a folder, which is created if it is missing. Entries are files that only their owner can read: the
 * SHA-256 of the content, and the content. An incomplete entry is removed when it is found, and counts as missing.
 *
 * @param directory undefined if there is none.
 * @param warn called with the reason if the folder cannot be used; nothing is cached then.
 */
export async function openCache(
  directory: string | undefined,
  warn: (message: string) => void,
  limits: CacheLimits = defaultLimits,
  now: () => number = Date.now,
): Promise<DocumentCache> {
  if (directory === undefined) {
    warn('no cache is used: this user has no home folder; set HOME or XDG_CACHE_HOME, or use --cache-dir');
    return noCache;
  }
  try {
    const found = await lstat(directory).catch(() => undefined);
    if (found === undefined) {
      makeFolder(directory, 0o700);
    }
    const problem = problemOf(found ?? (await lstat(directory)));
    if (problem !== undefined) {
      warn(`the cache ${directory} is not used: it ${problem}`);
      return noCache;
    }
  } catch (error) {
    warn(`the cache ${directory} is not used: ${(error as NodeJS.ErrnoException).code ?? 'it cannot be created'}`);
    return noCache;
  }
  return new FolderCache(directory, limits, now);
}
