import { Buffer } from 'node:buffer';
import type { KubeConfig } from '@kubernetes/client-node';
import { isJsonObject, type JsonObject } from '../objects/json/json.ts';
import { type KubernetesClient, readObject } from './requests/kubernetes-client.ts';
import { ResponseError } from './requests/transport.ts';
import { Informer, type WatchPace } from './watches/informer.ts';

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

/**
 * Reads a Secret, with its data as text; undefined without one. @throws {ResponseError} for another; else as `readObject`.
 */
export async function fetchSecret(
  cluster: KubernetesClient,
  namespace: string,
  name: string,
): Promise<{ secret: JsonObject; data: Record<string, string> } | undefined> {
  const secret = await readObject(cluster, secretPath(namespace, name), 'secrets', `${namespace}/${name}`);
  return secret && { secret, data: decodeSecret(secret, namespace, name) };
}

interface ServingSecret {
  cert: string;
  key: string;
  ca: string;
}

/** A change of a watched Secret, or of the watch itself. */
export type SecretEvent =
  | { kind: 'secret'; secret: ServingSecret }
  | { kind: 'absent'; reason: string }
  /** Why changes may arrive late or not at all, and what to do about it; undefined when they arrive at once again. */
  | { kind: 'watching'; problem: string | undefined };

/** A watch of 20 s notices a dead connection; without a watch, a list every 2 to 4 s notices a rotation in time. */
const defaultPace: Partial<WatchPace> = { watchMs: 20_000, maxRetryMs: 2_000, readDeadlineMs: 10_000 };

/**
 * Follows a kubernetes.io/tls Secret, which needs `list` and `watch` on it: its current state, then every change, even if
 * connections are lost or the Secret is absent for a while. While it cannot be watched it is listed. Contents are not
 * validated.
 *
 * @returns a function that starts to follow it, and returns one that stops.
 */
export function watchServingSecret(
  config: KubeConfig,
  namespace: string,
  name: string,
  changes: Partial<WatchPace> = {},
): (onEvent: (event: SecretEvent) => void) => () => void {
  const key = `${namespace}/${name}`;
  return (onEvent) => {
    let last = '';
    /** Each state once: what else changes in the Secret does not matter. */
    function emit(state: SecretEvent): void {
      const text = JSON.stringify(state);
      if (text !== last) {
        last = text;
        onEvent(state);
      }
    }
    const informer = new Informer(config, {
      path: secretPath(namespace),
      resource: 'secrets',
      query: { fieldSelector: `metadata.name=${name}` },
      name: key,
      remedy: `; allow list and watch on it, in a Role of namespace ${namespace} for the account of this server`,
      keep(object) {
        const data = decodeSecret(object, namespace, name);
        const secret = { cert: data['tls.crt'] ?? '', key: data['tls.key'] ?? '', ca: data['ca.crt'] ?? '' };
        return { metadata: object.metadata ?? {}, secret };
      },
      onChange: ({ type, object }) =>
        emit(
          type === 'deleted'
            ? { kind: 'absent', reason: `Secret ${key} was deleted` }
            : { kind: 'secret', secret: object.secret as unknown as ServingSecret },
        ),
      onProblem: (problem) => onEvent({ kind: 'watching', problem }),
      pace: { ...defaultPace, ...changes },
    });
    void informer.synced.then(() => {
      if (informer.list().length === 0) {
        emit({ kind: 'absent', reason: `Secret ${key} does not exist` });
      }
    });
    return () => informer.stop();
  };
}
