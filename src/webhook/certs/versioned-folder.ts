import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdtemp, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, readRegularFile } from '../../base/index.ts';

/** Number of versions that are kept: a reader that followed the link just before a swap still finds its files. */
const kept = 4;
/** Largest file that is read, in bytes. */
const maxFileBytes = 1024 * 1024;
/** Maximum number of names that are examined: the folder belongs to this program and has about a dozen. */
const maxNames = 1000;
/** Age from which a draft is considered left behind by a killed run, in ms. */
const staleMs = 600_000;
const versionName = /^\.\.v(\d{1,12})$/;

const folderName = (version: number) => `..v${version}`;

async function namesIn(home: string): Promise<string[]> {
  const names = await readdir(home);
  if (names.length > maxNames) {
    throw new Error(`${home} has more than ${maxNames} files: choose a separate folder`);
  }
  return names;
}

/** Replaces a link atomically. */
async function link(target: string, path: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  await symlink(target, temporary);
  await rename(temporary, path);
}

/**
 * Files that change all at once. As in a Secret that the kubelet mounts, the files are links through `..data` into a
 * folder per version. A version is created under another name and then renamed; that fails if the version already
 * exists, which makes it the optimistic lock.
 *
 * Errors are those of the file system, and an `Error` for a folder that contains anything else.
 */
export class VersionedFolder {
  readonly home: string;
  readonly #mayBeLink: boolean;

  /** @param mayBeLink whether the folder itself may be a link that its owner has created. */
  constructor(home: string, mayBeLink: boolean) {
    this.home = home;
    this.#mayBeLink = mayBeLink;
  }

  /** The existing versions, newest first. */
  async versions(): Promise<number[]> {
    try {
      const names = await namesIn(this.home);
      return names
        .map((name) => Number(versionName.exec(name)?.[1] ?? 0))
        .filter((version) => version > 0)
        .sort((a, b) => b - a);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return [];
      }
      throw error;
    }
  }

  /** The names of the files in a version, and a function that reads one of them. */
  async open(version: number): Promise<{ names: string[]; read(name: string): Promise<string> }> {
    const folder = join(this.home, folderName(version));
    if (!(await lstat(folder)).isDirectory()) {
      throw new Error(`${folder} is not a folder: move it away`);
    }
    return {
      names: await namesIn(folder),
      read: async (name) => (await readRegularFile(join(folder, name), maxFileBytes)).toString('utf8'),
    };
  }

  /**
   * Creates the folder, accessible only to its owner. Rejects a folder in which another program has written one of
   * these names.
   */
  async prepare(names: readonly string[]): Promise<void> {
    makeFolder(this.home, 0o700);
    await this.checkPlace(names);
    await chmod(this.home, 0o700);
  }

  /** Rejects files that this program did not write, so that they are not replaced. */
  async checkPlace(names: readonly string[]): Promise<void> {
    if (!this.#mayBeLink && !(await lstat(this.home)).isDirectory()) {
      throw new Error(`${this.home} is not a folder: move it away`);
    }
    for (const name of names) {
      const found = await lstat(join(this.home, name)).catch(() => undefined);
      if (found !== undefined && !(await this.#isOurLink(name))) {
        throw new Error(
          `${join(this.home, name)} was not created by this command: move it away, or choose another folder`,
        );
      }
    }
  }

  /**
   * Creates a version, to which the links do not point yet.
   *
   * @returns the existing versions, newest first; undefined if another run has created this version or a newer one.
   */
  async add(version: number, files: Iterable<readonly [name: string, text: string]>): Promise<number[] | undefined> {
    const draft = await mkdtemp(join(this.home, '..draft-'));
    const folder = join(this.home, folderName(version));
    try {
      for (const [name, text] of files) {
        await writeFile(join(draft, name), text, { mode: name.endsWith('.key') ? 0o600 : 0o644, flush: true });
      }
      await rename(draft, folder);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) {
        return undefined;
      }
      throw error;
    }
    const all = await this.versions();
    if (all[0] !== version) {
      await rm(folder, { recursive: true });
      return undefined;
    }
    return all;
  }

  async isPublished(version: number): Promise<boolean> {
    return (await readlink(join(this.home, '..data')).catch(() => '')) === folderName(version);
  }

  /** Points the links to a version; also repairs the state after a crash between two steps. */
  async publish(version: number, names: readonly string[]): Promise<void> {
    await link(folderName(version), join(this.home, '..data'));
    for (const name of names) {
      await link(join('..data', name), join(this.home, name));
    }
  }

  /** Removes links to files that the current version does not have, leftovers of killed runs, and old versions. */
  async clean(names: readonly string[], versions: readonly number[]): Promise<void> {
    const present = new Set(names);
    for (const name of await namesIn(this.home)) {
      const path = join(this.home, name);
      if (name.startsWith('..draft-')) {
        const found = await lstat(path).catch(() => undefined);
        if (found !== undefined && Date.now() - found.mtimeMs > staleMs) {
          await rm(path, { recursive: true, force: true });
        }
      } else if (!present.has(name) && (await this.#isOurLink(name))) {
        await rm(path, { force: true });
      }
    }
    for (const old of versions.slice(kept)) {
      await rm(join(this.home, folderName(old)), { recursive: true, force: true });
    }
  }

  /** Whether a name in the folder is a link that this program created. */
  async #isOurLink(name: string): Promise<boolean> {
    try {
      return (await readlink(join(this.home, name))) === join('..data', name);
    } catch {
      return false;
    }
  }
}
