import { type Cluster, explain, StatusError, secretPath } from '../cluster/index.ts';
import { type KnownSecret, readSecret, type SecretFacts } from '../facts/index.ts';

/** Times of the reader, in ms. */
export interface SecretReaderPace {
  /** How old a result may be before the Secret is read again on request. */
  freshMs: number;
  /** The same for one that is absent or has no usable CA: the user, once told, will fix it and retry soon. */
  freshBadMs: number;
  /** How old it may be before it counts as unknown. */
  maxAgeMs: number;
}

/** The times that `serve` uses. */
export const defaultSecretPace: SecretReaderPace = { freshMs: 60_000, freshBadMs: 2_000, maxAgeMs: 600_000 };

/** Maximum number of Secrets that are read at a time. */
const maxReading = 4;
/** Maximum number of Secrets that are kept: 3 KiB each. The one that was read longest ago is dropped. */
const maxKept = 4096;
/** Maximum number of Secrets that wait to be read. */
const maxWaiting = 10_000;

/** The result of reading a Secret. */
interface Entry {
  /** Undefined when it could not be read. */
  found: KnownSecret | 'absent' | undefined;
  readAt: number;
}

/** Reads Secrets one by one, on demand, and keeps what rules need of them. */
export interface SecretReader {
  /** A Secret that is not known yet, or not fresh, is read in the background. */
  readonly facts: SecretFacts;
  /** Reads a Secret in the background unless it is fresh. */
  want(namespace: string, name: string): void;
  /** Why Secrets cannot be read, according to the last attempt; undefined when they can. */
  readonly problem: string | undefined;
  readonly size: number;
  /** Resolves when nothing waits to be read. */
  idle(): Promise<void>;
}

/**
 * Creates a reader. What is kept has no private key in it: of the data of a Secret, only the certificates are looked
 * at.
 *
 * @param now milliseconds of a clock that never goes back.
 */
export function createSecretReader(
  cluster: Cluster,
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
      // The previous result counts until it is too old.
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
