import { createHash, randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { discardFile, homeFolder, makeFolder, readRegularFile } from '../../../base/index.ts';

/** 256 MiB, 30 days. The documents of an API server with 500 definitions take some 40 MiB. */
export const defaultLimits = {
  maxBytes: 256 * 1024 * 1024,
  maxAgeMs: 30 * 24 * 60 * 60 * 1000,
  maxEntryBytes: 64 * 1024 * 1024,
};

export type DocumentCache = ReturnType<typeof folderCache>;

const ownFolder = ['extensionconfig-webhook', 'openapi'];

/** The folder of the cache by the XDG Base Directory Specification; undefined if there is no home folder. */
export function cacheDirectory(env: NodeJS.ProcessEnv, systemHome?: () => string): string | undefined {
  const base = env.XDG_CACHE_HOME;
  if (base !== undefined && isAbsolute(base)) {
    return join(base, ...ownFolder);
  }
  const home = homeFolder(env, systemHome);
  return home === undefined ? undefined : join(home, '.cache', ...ownFolder);
}

/** The name of an entry, or of one that is being written. */
const entryName = /^[0-9a-f]{64}(?:\.[0-9a-f-]{36})?$/;

function folderCache(directory: string, limits: typeof defaultLimits) {
  const fileOf = (key: string) => join(directory, createHash('sha256').update(key).digest('hex'));
  return {
    /** The entry for a key; undefined if it is missing. After a crash it may be incomplete. */
    async read(key: string): Promise<Buffer | undefined> {
      const file = fileOf(key);
      try {
        const content = await readRegularFile(file, limits.maxEntryBytes);
        await utimes(file, new Date(), new Date());
        return content;
      } catch {
        return undefined;
      }
    },
    /** Stores an entry, if it can be written. */
    async write(key: string, content: Buffer): Promise<void> {
      if (content.length > limits.maxEntryBytes) {
        return;
      }
      const file = fileOf(key);
      const unfinished = `${file}.${randomUUID()}`;
      try {
        await writeFile(unfinished, content, { flag: 'wx', mode: 0o600 });
        await rename(unfinished, file);
      } catch {
        // A full disk is not a failure: without an entry, the document is fetched again.
        discardFile(unfinished);
      }
    },
    /** Removes entries that are too old, and the least recently used ones when they exceed the total size. */
    async cleanUp(): Promise<void> {
      try {
        const files = (await readdir(directory))
          .filter((name) => entryName.test(name))
          .map((name) => join(directory, name));
        const entries = await Promise.all(files.map(async (file) => ({ file, ...(await stat(file)) })));
        const oldest = Date.now() - limits.maxAgeMs;
        let total = 0;
        for (const { file, size, mtimeMs } of entries.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
          total += size;
          if (total > limits.maxBytes || mtimeMs < oldest) {
            await rm(file, { force: true });
          }
        }
      } catch {
        // The next run tries again.
      }
    },
  };
}

/** Opens the cache in a folder; undefined, and a warning, if it cannot be used. The time of a file is its last use. */
export function openCache(
  directory: string | undefined,
  warn: (message: string) => void,
  limits = defaultLimits,
): DocumentCache | undefined {
  if (directory === undefined) {
    warn('no cache is used: this user has no home folder; set HOME or XDG_CACHE_HOME');
    return undefined;
  }
  try {
    makeFolder(directory, 0o700);
  } catch (error) {
    warn(`the cache ${directory} is not used: ${(error as Error).message}`);
    return undefined;
  }
  return folderCache(directory, limits);
}
