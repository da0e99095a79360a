import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { isJsonObject, type Json } from '../kubernetes/index.ts';
import { clientNode } from './client-node.ts';
import { ApiError, connect } from './cluster.ts';
import { decodeSecret, explain, secretPath } from './cluster-store.ts';

/** What a serving Secret holds. `ca` is the trust bundle. */
export interface ServingSecret {
  cert: string;
  key: string;
  ca: string;
}

/** News of a watched Secret. `absent` and `failed` carry the reason; the watch goes on in any case. */
export type SecretEvent =
  | { kind: 'secret'; secret: ServingSecret }
  | { kind: 'absent'; reason: string }
  | { kind: 'failed'; reason: string };

/** Waits between tries after failures, in ms. */
const minDelayMs = 500;
const maxDelayMs = 30_000;

/**
 * Follows a kubernetes.io/tls Secret: its present state, then every change, across lost connections. Needs `get` and `watch`
 * on it. Contents are passed on unchecked.
 *
 * @returns a function that ends it.
 */
export function watchServingSecret(
  config: KubeConfig,
  namespace: string,
  name: string,
  onEvent: (event: SecretEvent) => void,
): () => void {
  const stop = new AbortController();
  const cluster = connect(config, stop.signal, { retries: 0, minTimeoutMs: 0, maxTimeoutMs: 0, deadlineMs: 30_000 });
  let last = '';

  function emit(event: SecretEvent): void {
    const text = JSON.stringify(event);
    if (text !== last && !stop.signal.aborted) {
      last = text;
      onEvent(event);
    }
  }

  function pass(secret: Json): void {
    const data = isJsonObject(secret) ? decodeSecret(secret) : {};
    emit({
      kind: 'secret',
      secret: { cert: data['tls.crt'] ?? '', key: data['tls.key'] ?? '', ca: data['ca.crt'] ?? '' },
    });
  }

  /** One connection; resolves when it ends. */
  async function follow(version: string): Promise<void> {
    const watch = new (clientNode().Watch)(config);
    let request: AbortController | undefined;
    const end = () => request?.abort();
    stop.signal.addEventListener('abort', end);
    try {
      await new Promise<void>((resolve) => {
        const started = watch.watch(
          secretPath(namespace),
          { fieldSelector: `metadata.name=${name}`, resourceVersion: version, timeoutSeconds: 300 },
          (type: string, object: Json) => {
            if (type === 'ADDED' || type === 'MODIFIED') {
              pass(object);
            } else if (type === 'DELETED') {
              emit({ kind: 'absent', reason: `Secret ${namespace}/${name} was deleted` });
            } else if (type === 'ERROR') {
              request?.abort();
            }
          },
          () => resolve(),
        );
        started.then(
          (controller) => {
            request = controller;
            if (stop.signal.aborted) {
              controller.abort();
            }
          },
          resolve as () => void,
        );
      });
    } finally {
      stop.signal.removeEventListener('abort', end);
    }
  }

  async function run(): Promise<void> {
    let delay = minDelayMs;
    while (!stop.signal.aborted) {
      const began = Date.now();
      try {
        const secret = await cluster.request('GET', secretPath(namespace, name));
        pass(secret);
        const metadata = isJsonObject(secret.metadata) ? secret.metadata : {};
        await follow(String(metadata.resourceVersion ?? ''));
      } catch (error) {
        const explained = explain(error, 'get', 'secrets', `${namespace}/${name}`) as Error;
        emit(
          error instanceof ApiError && error.code === 404
            ? { kind: 'absent', reason: `Secret ${namespace}/${name} does not exist` }
            : { kind: 'failed', reason: `Secret ${namespace}/${name}: ${explained.message}` },
        );
      }
      // A connection that lived for a while ended because connections end; another is being refused.
      delay = Date.now() - began > 5000 ? minDelayMs : Math.min(maxDelayMs, delay * 2);
      await sleep(delay, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  }

  void run();
  return () => stop.abort();
}
