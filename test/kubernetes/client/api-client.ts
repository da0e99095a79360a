import { setImmediate } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { readLimited } from '../../../src/base/index.ts';
import { type OutgoingRequest, transportFor } from '../../../src/kubernetes/client/requests/transport.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';

/** A response of an API server other than 2xx. */
export class Refusal extends Error {
  readonly code: number;
  /** The seconds of Retry-After; undefined without one, or with a date. */
  readonly retryAfter: number | undefined;
  constructor(code: number, retryAfter: string | undefined, text: string) {
    super(`${code}: ${text}`);
    this.code = code;
    this.retryAfter = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  }
}

/** Sends one request, with the credentials of a kubeconfig; resolves with the object in the response. */
export type ApiClient = <T = JsonObject>(
  method: OutgoingRequest['method'] | 'DELETE',
  path: string,
  body?: object,
) => Promise<T>;

/**
 * Requests to the API server of a kubeconfig, without the retries of src/kubernetes/client, which would hide a failure, and with
 * DELETE. The complete Kubernetes client costs half a second to import; test/e2e/client.test.ts shows that it works.
 */
export function apiClient(config: KubeConfig): ApiClient {
  const transport = transportFor(config);
  const { signal } = new AbortController();
  return async <T>(method: OutgoingRequest['method'] | 'DELETE', path: string, body?: object) => {
    await transport.signIn(signal);
    const answer = await transport.open({
      // The program deletes nothing, and its type does not have it.
      method: method as OutgoingRequest['method'],
      path,
      body: body && {
        type: method === 'PATCH' ? 'application/json-patch+json' : 'application/json',
        text: JSON.stringify(body),
      },
      signal,
      headersTimeoutMs: 60_000,
    });
    const text = String(await readLimited(answer.body, 16 * 1024 * 1024));
    // The connection is free after a turn of the event loop; an immediate request would open another.
    await setImmediate();
    if (answer.code > 299) {
      throw new Refusal(answer.code, answer.headers['retry-after'] as string | undefined, text);
    }
    return JSON.parse(text) as T & Json;
  };
}
