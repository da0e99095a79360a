import { readDocument } from '../../manifests/index.ts';
import { isJsonObject, type Json } from '../../objects/json/json.ts';
import { dropNulls, prune, type Schema, validateSchema } from '../../schema/index.ts';

/** What a kubeconfig has besides what the client library reads. */
export interface Contents {
  users?: {
    name?: string;
    user?: {
      tokenFile?: string;
      'as-groups'?: string[];
      'as-uid'?: string;
      'as-user-extra'?: Record<string, string[]>;
    };
  }[];
  clusters?: { name?: string; cluster?: { extensions?: { name?: string; extension?: unknown }[] } }[];
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

/**
 * The contents of a kubeconfig as kubectl reads them: as YAML 1.1, without unknown fields, and not at all if a field has
 * another type.
 *
 * @throws {Error} that says what is wrong, in one line without values.
 */
export function readContents(kubeconfig: string): Contents {
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
  return value;
}
