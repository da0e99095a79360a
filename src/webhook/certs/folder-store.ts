import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FailureError, FileError, folderProblem, makeFolder, readRegularFileSync } from '../../base/index.ts';
import { isJsonObject, textValues } from '../../kubernetes/index.ts';
import { type CertificateStore, Conflict, type SecretContents, type SecretRole, type StoredSecret } from './store.ts';

const maxFileBytes = 1024 * 1024;
/** The files of a Secret, in the order in which they are replaced. */
const filesOf: Readonly<Record<SecretRole, readonly string[]>> = {
  serving: ['ca.crt', 'tls.key', 'tls.crt'],
  ca: ['previous.crt', 'next.key', 'next.crt', 'ca.key', 'ca.crt'],
};
/** File with the annotations of a Secret. It also shows that the other files are this program's. */
const annotationsFile = '.annotations.json';

function parseAnnotations(text: string): Record<string, string> {
  try {
    const metadata: unknown = JSON.parse(text);
    return isJsonObject(metadata) ? textValues(metadata) : {};
  } catch {
    // Annotations only shorten waits; without them a wait starts over.
    return {};
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return readRegularFileSync(path, maxFileBytes).toString('utf8');
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

async function readFolder(folder: string, role: SecretRole): Promise<StoredSecret | undefined> {
  const data: Record<string, string> = {};
  for (const name of filesOf[role]) {
    const text = await readIfThere(join(folder, name));
    if (text !== undefined) {
      data[name] = text;
    }
  }
  const annotations = (await readIfThere(join(folder, annotationsFile))) ?? '';
  if (annotations === '' && Object.keys(data).length === 0) {
    return undefined;
  }
  return { data, annotations: parseAnnotations(annotations), raw: JSON.stringify([data, annotations]) };
}

async function writeFolder(folder: string, role: SecretRole, contents: SecretContents, from: StoredSecret | undefined) {
  makeFolder(folder, 0o700);
  const foreign = filesOf[role].find((name) => existsSync(join(folder, name)));
  if (foreign !== undefined && !existsSync(join(folder, annotationsFile))) {
    throw new FailureError(
      `${join(folder, foreign)} was not created by this command: move it away, or choose another folder`,
    );
  }
  if ((await readFolder(folder, role))?.raw !== from?.raw) {
    throw new Conflict(`${folder} was changed by another run`);
  }
  const files = new Map([[annotationsFile, JSON.stringify(contents.annotations)], ...Object.entries(contents.data)]);
  for (const name of [annotationsFile, ...filesOf[role]]) {
    const [path, text] = [join(folder, name), files.get(name)];
    if (text === undefined) {
      await rm(path, { force: true });
    } else {
      await writeFile(`${path}.new`, text, { mode: name.endsWith('.key') ? 0o600 : 0o644, flush: true });
      await rename(`${path}.new`, path);
    }
  }
}

/** Adds a remedy to a system error; other errors already have one. */
async function explained<T>(folder: string, action: 'read' | 'written', work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined
      ? error
      : new FailureError(folderProblem(folder, action, error), { cause: error });
  }
}

/**
 * The two Secrets as files, the CA in `ca/`, for development: each file is written elsewhere and renamed. A run that is
 * killed between two of these leaves a pair that does not match, which the next run replaces.
 */
export function folderStore(folder: string): CertificateStore {
  const folders: Readonly<Record<SecretRole, string>> = { serving: folder, ca: join(folder, 'ca') };
  return {
    describe: (role) => `folder ${folders[role]}`,
    read: (role) => explained(folders[role], 'read', readFolder(folders[role], role)),
    write: (role, contents, from) =>
      explained(folders[role], 'written', writeFolder(folders[role], role, contents, from)),
  };
}
