import { join } from 'node:path';
import { folderProblem } from '../../base/index.ts';
import { isJsonObject, textValues } from '../../kubernetes/index.ts';
import { type CertificateStore, Conflict, type SecretRole } from './store.ts';
import { VersionedFolder } from './versioned-folder.ts';

/** File with the annotations of a version, next to its data; it gets no link. */
const annotationsFile = '.annotations.json';
const keyName = /^[-._a-zA-Z0-9]+$/;

function parseAnnotations(text: string | undefined): Record<string, string> {
  try {
    const metadata: unknown = JSON.parse(text ?? '');
    return isJsonObject(metadata) ? textValues(metadata) : {};
  } catch {
    // Annotations only shorten waits; without them a wait starts over.
    return {};
  }
}

/** Adds a remedy to a system error; other errors already have one. */
async function explained<T>(folder: string, action: 'read' | 'written', work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined
      ? error
      : new Error(folderProblem(folder, action, error), { cause: error });
  }
}

/** The two Secrets as files, the CA in `ca/`. All files of a Secret change at once, and one of two runs wins. */
export function folderStore(folder: string): CertificateStore {
  const folders: Readonly<Record<SecretRole, VersionedFolder>> = {
    serving: new VersionedFolder(folder, true),
    ca: new VersionedFolder(join(folder, 'ca'), false),
  };
  return {
    describe: (role) => `folder ${folders[role].home}`,
    read: (role) =>
      explained(folders[role].home, 'read', async () => {
        const newest = await folders[role].read();
        if (newest === undefined) {
          return undefined;
        }
        const { version, files } = newest;
        const annotations = parseAnnotations(files.get(annotationsFile));
        files.delete(annotationsFile);
        return { data: Object.fromEntries(files), annotations, version: String(version) };
      }),
    write: (role, { data, annotations }, from) =>
      explained(folders[role].home, 'written', async () => {
        const files = new Map(Object.entries(data).filter(([name]) => keyName.test(name)));
        files.set(annotationsFile, JSON.stringify(annotations));
        if (!(await folders[role].write(Number(from?.version ?? 0) + 1, files))) {
          throw new Conflict(`${folders[role].home} was changed by another run`);
        }
      }),
  };
}
