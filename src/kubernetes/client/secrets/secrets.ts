import { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject } from '../../objects/json/json.ts';
import { explain } from '../requests/forbidden.ts';
import { isStatus, type KubernetesClient } from '../requests/kubernetes-client.ts';
import { ResponseError } from '../requests/transport.ts';

/** Longest value of a Secret that is decoded, in characters of base64: some 96 KiB, longer than any PEM file in use. */
const maxValueLength = 128 * 1024;

/** The metadata of an object that was requested by name. */
export function metadataOf(object: JsonObject, what: string, name: string): JsonObject & { resourceVersion: string } {
  const { metadata } = object;
  if (!isJsonObject(metadata) || metadata.name !== name) {
    throw new ResponseError(`the API server's answer is not ${what}: metadata.name is not ${name}`);
  }
  const { resourceVersion } = metadata;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') {
    throw new ResponseError(`the API server's answer is not ${what}: it has no resourceVersion`);
  }
  return { ...metadata, resourceVersion };
}

/**
 * The data of a Secret as text; values of more than 128 KiB of base64 are omitted.
 *
 * @throws {ResponseError} when the object is not the Secret with this name.
 */
export function decodeSecret(secret: JsonObject, namespace: string, name: string): Record<string, string> {
  const what = `the Secret ${namespace}/${name}`;
  metadataOf(secret, what, name);
  if (secret.kind !== undefined && secret.kind !== 'Secret') {
    throw new ResponseError(`the API server's answer is not ${what}: it is of another kind`);
  }
  const { data = null } = secret;
  if (data !== null && !isJsonObject(data)) {
    throw new ResponseError(`the API server's answer is not ${what}: its data is not an object`);
  }
  const decoded: Record<string, string> = {};
  for (const [key, value] of Object.entries(data ?? {})) {
    if (typeof value !== 'string') {
      throw new ResponseError(`the API server's answer is not ${what}: data.${key} is not a string`);
    }
    if (value.length <= maxValueLength) {
      decoded[key] = decodeValue(value);
    }
  }
  return decoded;
}

function decodeValue(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}

/** Encodes data for writing a Secret. An unchanged value keeps its bytes, even if they are not text. */
export function encodeData(data: Record<string, string>, before: JsonObject): JsonObject {
  const encoded: JsonObject = {};
  for (const [key, value] of Object.entries(before)) {
    if (typeof value === 'string' && value.length > maxValueLength) {
      encoded[key] = value;
    }
  }
  for (const [key, value] of Object.entries(data)) {
    const old = before[key];
    encoded[key] = typeof old === 'string' && decodeValue(old) === value ? old : Buffer.from(value).toString('base64');
  }
  return encoded;
}

export function secretPath(namespace: string, name?: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

/**
 * Reads a Secret, with its data as text; undefined if there is none.
 *
 * @throws {ResponseError} for a response that is not this Secret; otherwise as `request`, with the permission that is
 *   missing.
 */
export async function fetchSecret(
  cluster: KubernetesClient,
  namespace: string,
  name: string,
): Promise<{ secret: JsonObject; data: Record<string, string> } | undefined> {
  try {
    const secret = await cluster.request('GET', secretPath(namespace, name));
    return { secret, data: decodeSecret(secret, namespace, name) };
  } catch (error) {
    if (isStatus(error, 404)) {
      return undefined;
    }
    throw explain(error, 'get', 'secrets', `${namespace}/${name}`);
  }
}
