import { explain, type KubernetesClient, StatusError, secretPath } from '../../kubernetes/client/index.ts';
import type { KnownSecret, SecretFacts } from '../facts/facts.ts';
import { readSecret } from '../facts/secrets.ts';

/** Intervals of the reader, in ms. */
export interface SecretReaderPace {
  /** Age from which a result is renewed on request. */
  freshMs: number;
  /** The same for a Secret that is absent or has no usable CA: the user will fix it when told, and retry soon. */
  freshBadMs: number;
  /** Age from which a result counts as unknown. */
  maxAgeMs: number;
}

/** The intervals that `serve` uses. */
export const defaultSecretPace: SecretReaderPace = { freshMs: 60_000, freshBadMs: 2_000, maxAgeMs: 600_000 };

/** Maximum number of concurrent reads. */
const maxReading = 4;
/** Maximum number of Secrets in memory, at 3 KiB each. The one that was read longest ago is evicted. */
const maxKept = 4096;
/** Maximum number of Secrets waiting to be read. */
const maxWaiting = 10_000;

/** The result of reading a Secret. */
interface Entry {
  /** Undefined if it could not be read. */
  found: KnownSecret | 'absent' | undefined;
  readAt: number;
}

/** Reads Secrets one by one, on request, and keeps what rules need of them. */
export interface SecretReader {
  /** A Secret that is unknown, or whose result is too old, is read in the background. */
  readonly facts: SecretFacts;
  /** Reads a Secret in the background, unless the result is fresh. */
  want(namespace: string, name: string): void;
  /** Why Secrets cannot be read, according to the last attempt; undefined if they can. */
  readonly problem: string | undefined;
  readonly size: number;
  /** Resolves when no Secret is waiting to be read. */
  idle(): Promise<void>;
}

/**
 * Creates a reader. It keeps no private keys: of the data of a Secret, only the certificates are read.
 *
 * @param now returns milliseconds of a monotonic clock.
 */
export function createSecretReader(
  cluster: KubernetesClient,
  now: () => number,
  onProblem: (problem: string | undefined) => void,
  { freshMs, freshBadMs, maxAgeMs }: SecretReaderPace,
): SecretReader {
  const entries = new Map<string, Entry>();
  const waiting = new Map<string, { namespace: string; name: string }>();
  const reading = new Set<string>();
  let problem: string | undefined;
  let idle = Promise.withResolvers<void>();
  idle.resolve();

  function tell(news: string | undefined): void {
    if (news !== problem) {
      problem = news;
      onProblem(news);
    }
  }

  function keep(key: string, found: Entry['found']): void {
    entries.delete(key);
    entries.set(key, { found, readAt: now() });
    const [oldest] = entries.keys();
    if (entries.size > maxKept && oldest !== undefined) {
      entries.delete(oldest);
    }
  }

  async function read(key: string, namespace: string, name: string): Promise<void> {
    try {
      keep(key, readSecret(await cluster.request('GET', secretPath(namespace, name))));
      tell(undefined);
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) {
        keep(key, 'absent');
        tell(undefined);
        return;
      }
      const before = entries.get(key);
      // The previous result is valid until it is too old.
      if (before === undefined || now() - before.readAt > maxAgeMs) {
        keep(key, undefined);
      }
      tell((explain(error, 'get', 'secrets', key) as Error).message);
    }
  }

  function next(): void {
    for (const [key, { namespace, name }] of waiting) {
      if (reading.size >= maxReading) {
        return;
      }
      waiting.delete(key);
      reading.add(key);
      void read(key, namespace, name).finally(() => {
        reading.delete(key);
        if (waiting.size === 0 && reading.size === 0) {
          idle.resolve();
        }
        next();
      });
    }
  }

  function want(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const entry = entries.get(key);
    const isBad = entry?.found === 'absent' || entry?.found?.problem !== undefined;
    const isFresh = entry !== undefined && now() - entry.readAt < (isBad ? freshBadMs : freshMs);
    if (isFresh || reading.has(key) || waiting.has(key) || waiting.size >= maxWaiting) {
      return;
    }
    if (waiting.size === 0 && reading.size === 0) {
      idle = Promise.withResolvers<void>();
    }
    waiting.set(key, { namespace, name });
    next();
  }

  return {
    facts: {
      find(namespace, name) {
        want(namespace, name);
        const entry = entries.get(`${namespace}/${name}`);
        return entry !== undefined && now() - entry.readAt <= maxAgeMs ? entry.found : undefined;
      },
    },
    want,
    get problem() {
      return problem;
    },
    get size() {
      return entries.size;
    },
    idle: () => idle.promise,
  };
}
