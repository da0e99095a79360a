import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { maxPemBytes } from './certificate.ts';
import { ApiError, type Cluster } from './cluster.ts';
import { type CertificateStore, Conflict, type SecretRole, type StoredSecret } from './store.ts';
import { AnswerError } from './transport.ts';

/** What a write needs of an operator. */
export class Forbidden extends Error {}

/** Turns 403 into a sentence that names the permission, and 401 into one that names the credentials. */
export function explain(error: unknown, verb: string, resource: string, name: string): unknown {
  if (error instanceof ApiError && error.code === 403) {
    return new Forbidden(`forbidden: the permission to ${verb} ${resource} ${name} is missing (${error.message})`);
  }
  if (error instanceof ApiError && error.code === 401) {
    return new Forbidden(
      `the API server does not accept the credentials: renew those of the kubeconfig (${error.message})`,
    );
  }
  return error;
}

/** The metadata of an object that was asked for by its name. */
export function metadataOf(object: JsonObject, what: string, name: string): JsonObject & { resourceVersion: string } {
  const { metadata } = object;
  if (!isJsonObject(metadata) || metadata.name !== name) {
    throw new AnswerError(`the API server answered with something that is not ${what}: metadata.name is not ${name}`);
  }
  const { resourceVersion } = metadata;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') {
    throw new AnswerError(`the API server answered with something that is not ${what}: it has no resourceVersion`);
  }
  return { ...metadata, resourceVersion };
}

/**
 * The data of a Secret as text; values that are far too long are left out.
 *
 * @throws {AnswerError} when it is not the Secret of that name.
 */
export function decodeSecret(secret: JsonObject, namespace: string, name: string): Record<string, string> {
  const what = `the Secret ${namespace}/${name}`;
  metadataOf(secret, what, name);
  if (secret.kind !== undefined && secret.kind !== 'Secret') {
    throw new AnswerError(`the API server answered with something that is not ${what}: its kind is another`);
  }
  const { data = null } = secret;
  if (data !== null && !isJsonObject(data)) {
    throw new AnswerError(`the API server answered with something that is not ${what}: its data is not an object`);
  }
  const decoded: Record<string, string> = {};
  for (const [key, value] of Object.entries(data ?? {})) {
    if (typeof value !== 'string') {
      throw new AnswerError(`the API server answered with something that is not ${what}: data.${key} is not a string`);
    }
    if (value.length <= 2 * maxPemBytes) {
      decoded[key] = decodeValue(value);
    }
  }
  return decoded;
}

function decodeValue(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}

/** The data of a Secret that is written: what was not changed keeps its bytes, also those that are not text. */
function encodeData(data: Record<string, string>, before: JsonObject): JsonObject {
  const encoded: JsonObject = {};
  for (const [key, value] of Object.entries(before)) {
    if (typeof value === 'string' && value.length > 2 * maxPemBytes) {
      encoded[key] = value;
    }
  }
  for (const [key, value] of Object.entries(data)) {
    const old = before[key];
    encoded[key] = typeof old === 'string' && decodeValue(old) === value ? old : Buffer.from(value).toString('base64');
  }
  return encoded;
}

/** String values of an object in metadata. */
export function textValues(value: Json | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(isJsonObject(value) ? value : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

/** The path of a Secret at the API server. */
export function secretPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

/** Two Secrets of one namespace. */
export function clusterStore(
  cluster: Cluster,
  namespace: string,
  names: Readonly<Record<SecretRole, string>>,
): CertificateStore {
  return {
    describe: (role) => `Secret ${namespace}/${names[role]}`,
    async read(role) {
      const name = names[role];
      let secret: JsonObject;
      try {
        secret = await cluster.request('GET', secretPath(namespace, name));
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) {
          return undefined;
        }
        throw explain(error, 'get', 'secrets', `${namespace}/${name}`);
      }
      const metadata = metadataOf(secret, `the Secret ${namespace}/${name}`, name);
      return {
        data: decodeSecret(secret, namespace, name),
        annotations: textValues(metadata.annotations),
        version: metadata.resourceVersion,
        raw: secret,
      };
    },
    async write(role, contents, from: StoredSecret | undefined) {
      const name = names[role];
      const raw = (from?.raw ?? {}) as JsonObject;
      const metadata = isJsonObject(raw.metadata) ? raw.metadata : {};
      const secret: JsonObject = {
        ...raw,
        apiVersion: 'v1',
        kind: 'Secret',
        type: raw.type ?? (role === 'serving' ? 'kubernetes.io/tls' : 'Opaque'),
        metadata: {
          ...metadata,
          name,
          namespace,
          labels: {
            'app.kubernetes.io/managed-by': 'extensionconfig-webhook',
            ...(isJsonObject(metadata.labels) ? metadata.labels : {}),
          },
          annotations: contents.annotations,
        },
        data: encodeData(contents.data, isJsonObject(raw.data) ? raw.data : {}),
      };
      try {
        // A PUT with the resourceVersion that was read, or a POST: both fail with 409 when somebody was faster.
        await (from === undefined
          ? cluster.request('POST', secretPath(namespace), secret)
          : cluster.request('PUT', secretPath(namespace, name), secret));
      } catch (error) {
        if (error instanceof ApiError && (error.code === 409 || (error.code === 404 && from !== undefined))) {
          throw new Conflict(`Secret ${namespace}/${name} was changed by somebody else`);
        }
        throw explain(error, from === undefined ? 'create' : 'update', 'secrets', `${namespace}/${name}`);
      }
    },
  };
}
