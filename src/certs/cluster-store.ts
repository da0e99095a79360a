import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { maxPemBytes } from './certificate.ts';
import { ApiError, type Cluster } from './cluster.ts';
import { type CertificateStore, Conflict, type SecretRole, type StoredSecret } from './store.ts';

/** What a write needs of an operator. */
export class Forbidden extends Error {}

/** Turns 403 into a sentence that names the permission. */
export function explain(error: unknown, verb: string, resource: string, name: string): unknown {
  if (error instanceof ApiError && error.code === 403) {
    return new Forbidden(`forbidden: the permission to ${verb} ${resource} ${name} is missing (${error.message})`);
  }
  return error;
}

/** Decodes a Secret's data to text; values that are no strings or far too long are left out. */
export function decodeSecret(secret: JsonObject): Record<string, string> {
  const data: Record<string, string> = {};
  for (const [key, value] of Object.entries(isJsonObject(secret.data) ? secret.data : {})) {
    if (typeof value === 'string' && value.length <= 2 * maxPemBytes) {
      data[key] = Buffer.from(value, 'base64').toString('utf8');
    }
  }
  return data;
}

/** String values of an object in metadata. */
function textValues(value: Json | undefined): Record<string, string> {
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
      const metadata = isJsonObject(secret.metadata) ? secret.metadata : {};
      return {
        data: decodeSecret(secret),
        annotations: textValues(metadata.annotations),
        version: String(metadata.resourceVersion),
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
        data: Object.fromEntries(
          Object.entries(contents.data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
        ),
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
