import { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject, objectAt, textAt } from '../objects/json/json.ts';
import { type KubernetesClient, readObject } from './requests/kubernetes-client.ts';
import { ResponseError } from './requests/transport.ts';

/** The metadata of an object that was requested by name. @throws {ResponseError} when it is another one. */
export function metadataOf(object: JsonObject, what: string, name: string): JsonObject & { resourceVersion: string } {
  const metadata = objectAt(object, 'metadata');
  const resourceVersion = textAt(metadata, 'resourceVersion');
  if (metadata.name !== name || resourceVersion === '') {
    const problem = `metadata.name is not ${name}, or it has no resourceVersion`;
    throw new ResponseError(`the API server's answer is not ${what}: ${problem}`);
  }
  return { ...metadata, resourceVersion };
}

/** The data of a Secret as text. @throws {ResponseError} when the object is not the Secret with this name. */
export function decodeSecret(secret: JsonObject, namespace: string, name: string): Record<string, string> {
  const what = `the Secret ${namespace}/${name}`;
  metadataOf(secret, what, name);
  const { kind = 'Secret', data } = secret;
  const entries = Object.entries(data ?? {});
  if (kind !== 'Secret' || !isJsonObject(data ?? {}) || entries.some(([, value]) => typeof value !== 'string')) {
    throw new ResponseError(`the API server's answer is not ${what}: it is of another kind, or its data is not text`);
  }
  return Object.fromEntries(entries.map(([key, value]) => [key, decodeValue(value as string)]));
}

const decodeValue = (value: string) => Buffer.from(value, 'base64').toString('utf8');

/** Encodes data for writing a Secret. An unchanged value keeps its bytes, even if they are not text. */
export function encodeData(data: Record<string, string>, before: JsonObject): JsonObject {
  const encoded: JsonObject = {};
  for (const [key, value] of Object.entries(data)) {
    const old = before[key];
    encoded[key] = typeof old === 'string' && decodeValue(old) === value ? old : Buffer.from(value).toString('base64');
  }
  return encoded;
}

export function secretPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

/** Undefined if there is none. @throws as `readObject` and `decodeSecret`. */
export async function fetchSecret(cluster: KubernetesClient, namespace: string, name: string) {
  const secret = await readObject(cluster, secretPath(namespace, name), 'secrets', `${namespace}/${name}`);
  return secret && { secret, data: decodeSecret(secret, namespace, name) };
}
