import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { JsonObject } from '../kubernetes/index.ts';
import { askedWait, StatusError } from './cluster.ts';
import { explain, Forbidden } from './forbidden.ts';
import { decodeSecret, secretPath } from './secrets.ts';
import { ConnectionError } from './transport.ts';
import { connectToFollow, type WatchPace, waitAfter } from './watch-pace.ts';

/** What a serving Secret holds. `ca` is the trust bundle. */
export interface ServingSecret {
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

/** Times of following a Secret, in ms; tests pass shorter ones. */
export interface SecretPace extends WatchPace {
  /** How often the Secret is read while it cannot be watched. */
  pollMs: number;
  /** The longest wait between two reads that fail. */
  maxPollMs: number;
}

/**
 * A request every 20 s is cheap for an API server, and a connection that died silently is noticed by then. A rotation
 * with a short overlap must be noticed without a watch, too: hence one read a second.
 */
const defaultPace: SecretPace = {
  watchMs: 20_000,
  graceMs: 5_000,
  pollMs: 1_000,
  maxPollMs: 5_000,
  minRetryMs: 1_000,
  maxRetryMs: 30_000,
  readDeadlineMs: 10_000,
};

/**
 * Follows a kubernetes.io/tls Secret: its present state, then every change, across lost connections and while it is
 * absent. Needs `get` and `watch` on it. While it cannot be watched it is read instead, and `watching` says why.
 * Contents are passed on unchecked.
 *
 * @returns a function that ends it.
 */
export function watchServingSecret(
  config: KubeConfig,
  namespace: string,
  name: string,
  onEvent: (event: SecretEvent) => void,
  changes: Partial<SecretPace> = {},
): () => void {
  const pace = { ...defaultPace, ...changes };
  const { watchMs, graceMs, pollMs, maxPollMs, minRetryMs, maxRetryMs } = pace;
  const stop = new AbortController();
  const cluster = connectToFollow(config, stop.signal, pace);
  const place = `Secret ${namespace}/${name}`;
  const pathOfWatch = `${secretPath(namespace)}?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;
  let lastState = '';
  let lastProblem: string | undefined;
  /** Counts what was seen, so that a slow read does not overwrite a newer event. */
  let seen = 0;

  function pass(event: SecretEvent & { kind: 'secret' | 'absent' }): void {
    seen++;
    const text = JSON.stringify(event);
    if (text !== lastState && !stop.signal.aborted) {
      lastState = text;
      onEvent(event);
    }
  }

  function tell(problem: string | undefined): void {
    if (problem !== lastProblem && !stop.signal.aborted) {
      lastProblem = problem;
      onEvent({ kind: 'watching', problem });
    }
  }

  function passSecret(secret: JsonObject): void {
    const data = decodeSecret(secret, namespace, name);
    pass({
      kind: 'secret',
      secret: { cert: data['tls.crt'] ?? '', key: data['tls.key'] ?? '', ca: data['ca.crt'] ?? '' },
    });
  }

  /** Reads the present state. Rejects when that fails; an absent Secret is a state. */
  async function read(): Promise<void> {
    const before = seen;
    let secret: JsonObject | undefined;
    try {
      secret = await cluster.request('GET', secretPath(namespace, name));
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) {
        throw error;
      }
    }
    if (seen !== before) {
      return;
    }
    if (secret === undefined) {
      pass({ kind: 'absent', reason: `${place} does not exist` });
    } else {
      passSecret(secret);
    }
  }

  /** One watch, until the API server ends it. */
  async function follow(): Promise<void> {
    let reading: Promise<void> | undefined;
    // Without a resourceVersion a watch begins with the present state. Only the absence of the Secret it does not
    // report: that takes a read, begun once nothing can be missed any more.
    await cluster.watch(pathOfWatch, {
      watchMs,
      graceMs,
      onOpen() {
        reading = read().then(
          () => tell(undefined),
          (error) => tell(describe(error, 'get')),
        );
      },
      onEvent({ type, object }) {
        if (type === 'DELETED') {
          pass({ kind: 'absent', reason: `${place} was deleted` });
        } else {
          passSecret(object);
        }
      },
    });
    await reading;
  }

  function describe(error: unknown, verb: string): string {
    const explained = explain(error, verb, 'secrets', `${namespace}/${name}`) as Error;
    const remedy =
      explained instanceof Forbidden
        ? `; allow get and watch on it, in a Role of namespace ${namespace} for the account of this server`
        : '';
    return `${place}: ${explained.message}${remedy}`;
  }

  function wait(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: stop.signal, ref: false }).catch(() => {});
  }

  /** Polls for a while, since it cannot be watched. */
  async function poll(durationMs: number, problem: string): Promise<void> {
    const until = performance.now() + durationMs;
    let failures = 0;
    while (!stop.signal.aborted) {
      let asked = 0;
      try {
        await read();
        failures = 0;
        tell(`${problem}; until it can be watched, it is read every ${pollMs / 1000} s`);
      } catch (error) {
        failures++;
        asked = askedWait(error);
        tell(`${describe(error, 'get')}; the last version that was read stays in use`);
      }
      const next = Math.max(asked, failures === 0 ? pollMs : waitAfter(failures, pollMs, maxPollMs));
      const left = until - performance.now();
      if (left <= next) {
        await wait(Math.max(0, left));
        return;
      }
      await wait(next);
    }
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!stop.signal.aborted) {
      const began = performance.now();
      let problem: string;
      let asked = 0;
      try {
        await follow();
        if (performance.now() - began >= minRetryMs) {
          failures = 0;
          continue;
        }
        problem = `${place}: the API server ends its watch at once`;
      } catch (error) {
        // A connection that lasted a while may end: something is wrong only when the next one fails.
        if (error instanceof ConnectionError && failures === 0 && performance.now() - began >= minRetryMs) {
          failures++;
          continue;
        }
        problem = describe(error, 'watch');
        asked = askedWait(error);
      }
      failures++;
      await poll(Math.max(asked, waitAfter(failures, minRetryMs, maxRetryMs)), problem);
    }
  }

  void run();
  return () => stop.abort();
}
