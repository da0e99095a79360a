import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CertificateStore, Conflict, type SecretRole } from './store.ts';

/** File with the annotations of a version, beside its data. */
const annotationsFile = '.annotations.json';
/** Versions that are kept: a reader that follows the link just before a swap still finds its files. */
const kept = 4;
const versionName = /^\.\.v(\d{1,12})$/;
const keyName = /^[-._a-zA-Z0-9]+$/;

/**
 * The two Secrets as files: `tls.crt`, `tls.key` and `ca.crt` in the folder itself, the authority in `authority/` below it.
 *
 * As in a Secret that the kubelet mounts, the files are links through `..data` into one folder a version, so that all of them
 * change at once. A version is made under another name and renamed: that fails when it exists already, which
 * makes it the optimistic lock.
 */
export function folderStore(folder: string): CertificateStore {
  const folderOf = (role: SecretRole) => (role === 'serving' ? folder : join(folder, 'authority'));

  async function versions(role: SecretRole): Promise<number[]> {
    try {
      const names = await readdir(folderOf(role));
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

  /** Swaps a link in one step. */
  async function link(target: string, path: string): Promise<void> {
    const temporary = `${path}.${randomBytes(6).toString('hex')}`;
    await symlink(target, temporary);
    await rename(temporary, path);
  }

  /** Points the links at a version: also mends what a crash between two steps left. */
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
      const home = join(folderOf(role), `..v${version}`);
      const data: Record<string, string> = {};
      for (const name of (await readdir(home)).filter((found) => found !== annotationsFile)) {
        data[name] = await readFile(join(home, name), 'utf8');
      }
      let annotations: Record<string, string> = {};
      try {
        annotations = JSON.parse(await readFile(join(home, annotationsFile), 'utf8')) as Record<string, string>;
      } catch {
        // Annotations only shorten waits; without them a wait begins anew.
      }
      return { data, annotations, version: String(version) };
    },
    async write(role, contents, from) {
      const home = folderOf(role);
      await mkdir(home, { recursive: true, mode: 0o700 });
      await chmod(home, 0o700);
      const version = Number(from?.version ?? 0) + 1;
      const draft = await mkdtemp(join(home, '..draft-'));
      const files = Object.entries(contents.data).filter(([name]) => keyName.test(name));
      for (const [name, text] of [...files, [annotationsFile, JSON.stringify(contents.annotations)] as const]) {
        await writeFile(join(draft, name), text, { mode: name.endsWith('.key') ? 0o600 : 0o644, flush: true });
      }
      const conflict = new Conflict(`${home} was changed by somebody else`);
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
      for (const name of await readdir(home)) {
        // Files that this version does not have any more.
        if (/\.(crt|key)$/.test(name) && !files.some(([file]) => file === name)) {
          await rm(join(home, name), { force: true });
        }
      }
      for (const old of all.slice(kept)) {
        await rm(join(home, `..v${old}`), { recursive: true, force: true });
      }
    },
  };
}
