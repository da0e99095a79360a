import { join } from 'node:path';
import { folderProblem } from '../../base/index.ts';
import { isJsonObject, textValues } from '../../kubernetes/index.ts';
import { type CertificateStore, Conflict, type SecretContents, type SecretRole } from './store.ts';
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

/** Adds a remedy to a system error; other errors already have one. */
function explained(folder: string, action: 'read' | 'written', error: unknown): unknown {
  return (error as NodeJS.ErrnoException).syscall === undefined
    ? error
    : new Error(folderProblem(folder, action, error), { cause: error });
}

/**
 * The two Secrets as files: `tls.crt`, `tls.key` and `ca.crt` in the folder itself, the CA in `ca/` below it. All files
 * of a Secret change at once, and one of two runs at a time wins.
 */
export function folderStore(folder: string): CertificateStore {
  const folders: Readonly<Record<SecretRole, VersionedFolder>> = {
    serving: new VersionedFolder(folder, true),
    ca: new VersionedFolder(join(folder, 'ca'), false),
  };

  async function read(versioned: VersionedFolder) {
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
      // The run that created this version was killed before it updated the links.
      const names = Object.keys(data);
      await versioned.checkPlace(names);
      await versioned.publish(version, names);
    }
    return { data, annotations, version: String(version) };
  }

  async function write(versioned: VersionedFolder, contents: SecretContents, version: number) {
    const files = Object.entries(contents.data).filter(([name]) => keyName.test(name));
    const names = files.map(([name]) => name);
    await versioned.prepare(names);
    const all = await versioned.add(version, [...files, [annotationsFile, JSON.stringify(contents.annotations)]]);
    if (all === undefined) {
      throw new Conflict(`${versioned.home} was changed by another run`);
    }
    await versioned.publish(version, names);
    await versioned.clean(names, all);
  }

  return {
    describe: (role) => `folder ${folders[role].home}`,
    async read(role) {
      try {
        return await read(folders[role]);
      } catch (error) {
        throw explained(folders[role].home, 'read', error);
      }
    },
    async write(role, contents, from) {
      try {
        await write(folders[role], contents, Number(from?.version ?? 0) + 1);
      } catch (error) {
        throw explained(folders[role].home, 'written', error);
      }
    },
  };
}
