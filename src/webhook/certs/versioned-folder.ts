import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdtemp, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, readRegularFile } from '../../base/index.ts';

/** Number of versions that are kept: a reader that followed the link just before a swap still finds its files. */
const keptVersions = 4;
const maxFileBytes = 1024 * 1024;
/** Maximum number of names that are examined: the folder belongs to this program and has about a dozen. */
const maxNames = 1000;
/** Prefix of what is to be renamed, and the age from which it was left behind by a killed run, in ms. */
const draft = '..draft-';
const staleMs = 600_000;
const versionName = /^\.\.v(\d{1,12})$/;

const folderName = (version: number) => `..v${version}`;

/** The files that get a link: not those whose name begins with a dot. */
const linkedIn = (files: ReadonlyMap<string, string>) => [...files.keys()].filter((name) => !name.startsWith('.'));

async function namesIn(home: string): Promise<string[]> {
  const names = await readdir(home);
  if (names.length > maxNames) {
    throw new Error(`${home} has more than ${maxNames} files: choose a separate folder`);
  }
  return names;
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

  /** The files of the newest version; undefined if there is none. */
  async read(): Promise<{ version: number; files: Map<string, string> } | undefined> {
    const [version] = await this.#versions();
    if (version === undefined) {
      return undefined;
    }
    const folder = join(this.home, folderName(version));
    if (!(await lstat(folder)).isDirectory()) {
      throw new Error(`${folder} is not a folder: move it away`);
    }
    const files = new Map<string, string>();
    for (const name of await namesIn(folder)) {
      files.set(name, (await readRegularFile(join(folder, name), maxFileBytes)).toString('utf8'));
    }
    if ((await this.#linkAt('..data')) !== folderName(version)) {
      // The run that created this version was killed before it updated the links.
      await this.#publish(version, linkedIn(files));
    }
    return { version, files };
  }

  /** Writes a version, into a folder that only its owner can access; false if another run has written one since. */
  async write(version: number, files: ReadonlyMap<string, string>): Promise<boolean> {
    const names = linkedIn(files);
    makeFolder(this.home, 0o700);
    await this.#checkPlace(names);
    await chmod(this.home, 0o700);
    if (!(await this.#create(version, files))) {
      return false;
    }
    const versions = await this.#versions();
    if (versions[0] !== version) {
      await rm(join(this.home, folderName(version)), { recursive: true });
      return false;
    }
    await this.#publish(version, names);
    await this.#clean(names, versions);
    return true;
  }

  async #versions(): Promise<number[]> {
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

  /** Creates a version, to which the links do not point yet; false if another run has created it. */
  async #create(version: number, files: ReadonlyMap<string, string>): Promise<boolean> {
    const folder = await mkdtemp(join(this.home, draft));
    try {
      for (const [name, text] of files) {
        await writeFile(join(folder, name), text, { mode: name.endsWith('.key') ? 0o600 : 0o644, flush: true });
      }
      await rename(folder, join(this.home, folderName(version)));
      return true;
    } catch (error) {
      await rm(folder, { recursive: true });
      if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code as string)) {
        return false;
      }
      throw error;
    }
  }

  /** Points the links to a version: `..data` last, so that it shows that all of them are there. */
  async #publish(version: number, names: readonly string[]): Promise<void> {
    await this.#checkPlace(names);
    for (const name of names) {
      await this.#link(join('..data', name), name);
    }
    await this.#link(folderName(version), '..data');
  }

  /** Removes links to files that the current version does not have, leftovers of killed runs, and old versions. */
  async #clean(names: readonly string[], versions: readonly number[]): Promise<void> {
    const present = new Set(names);
    for (const name of await namesIn(this.home)) {
      const path = join(this.home, name);
      if (name.startsWith(draft)) {
        const stats = await lstat(path).catch(() => undefined);
        if (stats !== undefined && Date.now() - stats.mtimeMs > staleMs) {
          await rm(path, { recursive: true, force: true });
        }
      } else if (!present.has(name) && (await this.#isOurLink(name))) {
        await rm(path, { force: true });
      }
    }
    for (const old of versions.slice(keptVersions)) {
      await rm(join(this.home, folderName(old)), { recursive: true, force: true });
    }
  }

  /** Rejects files that this program did not write, so that they are not replaced. */
  async #checkPlace(names: readonly string[]): Promise<void> {
    if (!this.#mayBeLink && !(await lstat(this.home)).isDirectory()) {
      throw new Error(`${this.home} is not a folder: move it away`);
    }
    for (const name of names) {
      const path = join(this.home, name);
      const isThere = (await lstat(path).catch(() => undefined)) !== undefined;
      if (isThere && !(await this.#isOurLink(name))) {
        throw new Error(`${path} was not created by this command: move it away, or choose another folder`);
      }
    }
  }

  async #link(target: string, name: string): Promise<void> {
    const temporary = join(this.home, `${draft}${randomBytes(6).toString('hex')}`);
    await symlink(target, temporary);
    await rename(temporary, join(this.home, name));
  }

  async #isOurLink(name: string): Promise<boolean> {
    return (await this.#linkAt(name)) === join('..data', name);
  }

  /** The target of a link in the folder; undefined if it is none. */
  #linkAt(name: string): Promise<string | undefined> {
    return readlink(join(this.home, name)).catch(() => undefined);
  }
}
