import { resolve, sep } from 'node:path';
import { readDocument } from '../../manifests/index.ts';
import { isJsonObject, type Json } from '../../objects/json/json.ts';
import { dropNulls, prune, type Schema, validateSchema } from '../../schema/index.ts';

/** An entry of a list, in which the first one of a name counts. */
interface Named {
  name?: string;
}

interface NamedCluster extends Named {
  cluster?: { extensions?: { name?: string; extension?: unknown }[] } | null;
}

interface NamedUser extends Named {
  user?: {
    tokenFile?: string;
    exec?: { command?: string };
    'as-groups'?: string[];
    'as-uid'?: string;
    'as-user-extra'?: Record<string, string[]>;
  } | null;
}

/** A kubeconfig, with the fields that the client library does not read. */
export interface Contents {
  'current-context'?: string;
  contexts?: Named[];
  clusters?: NamedCluster[];
  users?: NamedUser[];
}

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const list = (items: Schema): Schema => ({ type: 'array', items });
const map = (additionalProperties: Schema): Schema => ({ type: 'object', additionalProperties });
const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties });

/** The fields of a kubeconfig that are used here (client-go, clientcmd/api/v1). */
const schema = object({
  'current-context': text,
  contexts: list(object({ name: text, context: object({ cluster: text, user: text, namespace: text }) })),
  clusters: list(
    object({
      name: text,
      cluster: object({
        server: text,
        'tls-server-name': text,
        'insecure-skip-tls-verify': flag,
        'certificate-authority': text,
        'certificate-authority-data': text,
        'proxy-url': text,
        extensions: list(object({ name: text, extension: { 'x-kubernetes-preserve-unknown-fields': true } })),
      }),
    }),
  ),
  users: list(
    object({
      name: text,
      user: object({
        'client-certificate': text,
        'client-certificate-data': text,
        'client-key': text,
        'client-key-data': text,
        token: text,
        tokenFile: text,
        as: text,
        'as-uid': text,
        'as-groups': list(text),
        'as-user-extra': map(list(text)),
        username: text,
        password: text,
        'auth-provider': object({ name: text, config: map(text) }),
        exec: object({
          apiVersion: text,
          command: text,
          args: list(text),
          env: list(object({ name: text, value: text })),
          provideClusterInfo: flag,
          interactiveMode: text,
        }),
      }),
    }),
  ),
});

/** Makes paths absolute; kubectl does not read a file of which the kubeconfig has the contents. */
function resolveFiles(fields: Record<string, unknown>, folder: string): void {
  for (const name of ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']) {
    if (fields[name] && !fields[`${name}-data`]) {
      fields[name] = resolve(folder, String(fields[name]));
    } else {
      delete fields[name];
    }
  }
}

/**
 * The contents of a kubeconfig as kubectl reads them: as YAML 1.1, without unknown fields, and not at all if a field has
 * another type. Paths become absolute.
 *
 * @param folder of the kubeconfig.
 * @throws {Error} that says what is wrong, in one line without values.
 */
export function readContents(kubeconfig: string, folder: string): Contents {
  const read = readDocument({ text: kubeconfig, firstLine: 1, form: 'yaml' });
  if ('errors' in read) {
    const [{ line, message } = { line: 1, message: '' }] = read.errors;
    throw new Error(`line ${line}: ${message}`);
  }
  const value = (read.value ?? {}) as Json;
  if (!isJsonObject(value)) {
    throw new Error('it is not a map with clusters, users and contexts');
  }
  dropNulls(value, schema);
  // Of the others the library reads one: it blocks forever if `token-file` is a FIFO.
  prune(value, schema, false);
  const [cause] = validateSchema(value, schema);
  if (cause !== undefined) {
    throw new Error(cause.message);
  }
  const contents: Contents = value;
  for (const { cluster } of contents.clusters ?? []) {
    resolveFiles(cluster ?? {}, folder);
  }
  for (const { user } of contents.users ?? []) {
    resolveFiles(user ?? {}, folder);
    // A command with a folder in it; any other one is searched in PATH.
    if (user?.exec?.command?.includes(sep)) {
      user.exec.command = resolve(folder, user.exec.command);
    }
  }
  return contents;
}

function firstOfEachName<T extends Named>(entries: readonly T[]): T[] {
  return [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()].reverse();
}

/**
 * Merges several files: for each name, and for the current context, the first one wins (kubectl, "Merging kubeconfig
 * files").
 */
export function mergeContents(files: readonly Contents[]): Contents {
  return {
    'current-context': files.find((file) => file['current-context'])?.['current-context'] ?? '',
    contexts: firstOfEachName(files.flatMap(({ contexts = [] }) => contexts)),
    clusters: firstOfEachName(files.flatMap(({ clusters = [] }) => clusters)),
    users: firstOfEachName(files.flatMap(({ users = [] }) => users)),
  };
}
