import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdtemp, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { textValues } from '../cluster/index.ts';
import { makeFolder, readRegularFile } from '../files/index.ts';
import { isJsonObject } from '../kubernetes/index.ts';
import { type CertificateStore, Conflict, type SecretRole } from './store.ts';

/** File with the annotations of a version, next to its data. */
const annotationsFile = '.annotations.json';
/** Versions that are kept: a reader that follows the link just before a swap still finds its files. */
const kept = 4;
/** Largest file that is read, in bytes. */
const maxFileBytes = 1024 * 1024;
/** Maximum number of names that are examined: the folder is this program's own, and holds a dozen. */
const maxNames = 1000;
/** A draft of this age was left behind by a run that was killed, in ms. */
const staleMs = 600_000;
const versionName = /^\.\.v(\d{1,12})$/;
const keyName = /^[-._a-zA-Z0-9]+$/;

/**
 * The two Secrets as files: `tls.crt`, `tls.key` and `ca.crt` in the folder itself, the CA in `authority/` below it
 * (a name kept for existing folders).
 *
 * As in a Secret that the kubelet mounts, the files are links through `..data` into a folder per version, so that all
 * of them change at once. A version is made under another name and renamed: that fails when it exists already, which
 * makes it the optimistic lock.
 */
export function folderStore(folder: string): CertificateStore {
  const folderOf = (role: SecretRole) => (role === 'serving' ? folder : join(folder, 'authority'));

  async function namesIn(home: string): Promise<string[]> {
    const names = await readdir(home);
    if (names.length > maxNames) {
      throw new Error(`${home} has more than ${maxNames} files: choose a separate folder`);
    }
    return names;
  }

  async function versions(role: SecretRole): Promise<number[]> {
    try {
      const names = await namesIn(folderOf(role));
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

  /** Whether a name in the folder is a link that this store made. */
  async function isOurLink(home: string, name: string): Promise<boolean> {
    try {
      return (await readlink(join(home, name))) === join('..data', name);
    } catch {
      return false;
    }
  }

  /** Refuses to replace files that this store did not write. */
  async function checkPlace(home: string, names: readonly string[]): Promise<void> {
    if (home !== folder && !(await lstat(home)).isDirectory()) {
      throw new Error(`${home} is not a folder: move it away`);
    }
    for (const name of names) {
      const found = await lstat(join(home, name)).catch(() => undefined);
      if (found !== undefined && !(await isOurLink(home, name))) {
        throw new Error(`${join(home, name)} was not created by this command: move it away, or choose another folder`);
      }
    }
  }

  /** The folder of one version, which must not be a link. */
  async function versionFolder(role: SecretRole, version: number): Promise<string> {
    const home = join(folderOf(role), `..v${version}`);
    if (!(await lstat(home)).isDirectory()) {
      throw new Error(`${home} is not a folder: move it away`);
    }
    return home;
  }

  /** Swaps a link in one step. */
  async function link(target: string, path: string): Promise<void> {
    const temporary = `${path}.${randomBytes(6).toString('hex')}`;
    await symlink(target, temporary);
    await rename(temporary, path);
  }

  /** Points the links at a version: also repairs what a crash between two steps left. */
  async function publish(role: SecretRole, version: number, names: readonly string[]): Promise<void> {
    const home = folderOf(role);
    await link(`..v${version}`, join(home, '..data'));
    for (const name of names) {
      await link(join('..data', name), join(home, name));
    }
  }

  return {
    describe: (role) => `folder ${folderOf(role)}`,
    async read(role) {
      const version = (await versions(role))[0];
      if (version === undefined) {
        return undefined;
      }
      const home = await versionFolder(role, version);
      const read = async (name: string) => (await readRegularFile(join(home, name), maxFileBytes)).toString('utf8');
      const data: Record<string, string> = {};
      for (const name of (await namesIn(home)).filter((found) => found !== annotationsFile)) {
        data[name] = await read(name);
      }
      let annotations: Record<string, string> = {};
      try {
        const found: unknown = JSON.parse(await read(annotationsFile));
        annotations = isJsonObject(found) ? textValues(found) : {};
      } catch {
        // Annotations only shorten waits; without them a wait starts over.
      }
      if ((await readlink(join(folderOf(role), '..data')).catch(() => '')) !== `..v${version}`) {
        // The run that made this version was killed before it pointed the links at it.
        const names = Object.keys(data);
        await checkPlace(folderOf(role), names);
        await publish(role, version, names);
      }
      return { data, annotations, version: String(version) };
    },
    async write(role, contents, from) {
      const home = folderOf(role);
      const files = Object.entries(contents.data).filter(([name]) => keyName.test(name));
      makeFolder(home, 0o700);
      await checkPlace(
        home,
        files.map(([name]) => name),
      );
      await chmod(home, 0o700);
      const version = Number(from?.version ?? 0) + 1;
      const draft = await mkdtemp(join(home, '..draft-'));
      for (const [name, text] of [...files, [annotationsFile, JSON.stringify(contents.annotations)] as const]) {
        await writeFile(join(draft, name), text, { mode: name.endsWith('.key') ? 0o600 : 0o644, flush: true });
      }
      const conflict = new Conflict(`${home} was changed by another run`);
      try {
        await rename(draft, join(home, `..v${version}`));
      } catch (error) {
        await rm(draft, { recursive: true });
        if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) {
          throw conflict;
        }
        throw error;
      }
      const all = await versions(role);
      if (all[0] !== version) {
        await rm(join(home, `..v${version}`), { recursive: true });
        throw conflict;
      }
      await publish(
        role,
        version,
        files.map(([name]) => name),
      );
      const present = new Set(files.map(([name]) => name));
      for (const name of await namesIn(home)) {
        const path = join(home, name);
        if (name.startsWith('..draft-')) {
          const found = await lstat(path).catch(() => undefined);
          if (found !== undefined && Date.now() - found.mtimeMs > staleMs) {
            await rm(path, { recursive: true, force: true });
          }
        } else if (!present.has(name) && (await isOurLink(home, name))) {
          // A file that this version does not have any more.
          await rm(path, { force: true });
        }
      }
      for (const old of all.slice(kept)) {
        await rm(join(home, `..v${old}`), { recursive: true, force: true });
      }
    },
  };
}
