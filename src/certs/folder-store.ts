import { join } from 'node:path';
import { textValues } from '../cluster/index.ts';
import { isJsonObject } from '../kubernetes/index.ts';
import { type CertificateStore, Conflict, type SecretRole } from './store.ts';
import { VersionedFolder } from './versioned-folder.ts';

/** File with the annotations of a version, next to its data. */
const annotationsFile = '.annotations.json';
const keyName = /^[-._a-zA-Z0-9]+$/;

async function readAnnotations(read: (name: string) => Promise<string>): Promise<Record<string, string>> {
  try {
    const found: unknown = JSON.parse(await read(annotationsFile));
    return isJsonObject(found) ? textValues(found) : {};
  } catch {
    // Annotations only shorten waits; without them a wait starts over.
    return {};
  }
}

/**
 * The two Secrets as files: `tls.crt`, `tls.key` and `ca.crt` in the folder itself, the CA in `authority/` below it
 * (a name kept for existing folders). All files of a Secret change at once, and one of two runs at a time wins.
 */
export function folderStore(folder: string): CertificateStore {
  const folders: Readonly<Record<SecretRole, VersionedFolder>> = {
    serving: new VersionedFolder(folder, true),
    ca: new VersionedFolder(join(folder, 'authority'), false),
  };

  return {
    describe: (role) => `folder ${folders[role].home}`,
    async read(role) {
      const versioned = folders[role];
      const [version] = await versioned.versions();
      if (version === undefined) {
        return undefined;
      }
      const files = await versioned.open(version);
      const data: Record<string, string> = {};
      for (const name of files.names.filter((found) => found !== annotationsFile)) {
        data[name] = await files.read(name);
      }
      const annotations = await readAnnotations(files.read);
      if (!(await versioned.isPublished(version))) {
        // The run that made this version was killed before it pointed the links at it.
        const names = Object.keys(data);
        await versioned.checkPlace(names);
        await versioned.publish(version, names);
      }
      return { data, annotations, version: String(version) };
    },
    async write(role, contents, from) {
      const versioned = folders[role];
      const files = Object.entries(contents.data).filter(([name]) => keyName.test(name));
      const names = files.map(([name]) => name);
      await versioned.prepare(names);
      const version = Number(from?.version ?? 0) + 1;
      const all = await versioned.add(version, [...files, [annotationsFile, JSON.stringify(contents.annotations)]]);
      if (all === undefined) {
        throw new Conflict(`${versioned.home} was changed by another run`);
      }
      await versioned.publish(version, names);
      await versioned.clean(names, all);
    },
  };
}
