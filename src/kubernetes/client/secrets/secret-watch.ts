import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { JsonObject } from '../../objects/json/json.ts';
import { explain, Forbidden } from '../requests/forbidden.ts';
import { askedWait, type KubernetesClient, StatusError } from '../requests/kubernetes-client.ts';
import { connectToFollow, type WatchPace, waitAfter } from '../watches/pace.ts';
import { type AfterWatch, WatchRetries } from '../watches/retries.ts';
import { decodeSecret, secretPath } from './secrets.ts';

/** The contents of a serving Secret. `ca` is the trust bundle. */
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

/** Intervals of watching a Secret, in ms; tests pass shorter ones. */
export interface SecretPace extends WatchPace {
  /** How often the Secret is read while it cannot be watched. */
  pollMs: number;
  /** The longest wait between failed reads. */
  maxPollMs: number;
}

/**
 * A request every 20 s is cheap for an API server, and a connection that has died silently is noticed by then. A
 * rotation with a short overlap must be noticed without a watch as well: hence one read per second.
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

/** Passes on each state and each problem once, and nothing after it has ended. */
class SecretNews {
  readonly #onEvent: (event: SecretEvent) => void;
  readonly #signal: AbortSignal;
  #lastState = '';
  #lastProblem: string | undefined;
  /** Number of states seen, so that a slow read does not overwrite a newer event. */
  seen = 0;

  constructor(onEvent: (event: SecretEvent) => void, signal: AbortSignal) {
    this.#onEvent = onEvent;
    this.#signal = signal;
  }

  pass(state: SecretEvent & { kind: 'secret' | 'absent' }): void {
    this.seen++;
    const text = JSON.stringify(state);
    if (text !== this.#lastState && !this.#signal.aborted) {
      this.#lastState = text;
      this.#onEvent(state);
    }
  }

  tell(problem: string | undefined): void {
    if (problem !== this.#lastProblem && !this.#signal.aborted) {
      this.#lastProblem = problem;
      this.#onEvent({ kind: 'watching', problem });
    }
  }
}

/** Watches one Secret, and polls it while it cannot be watched. */
class SecretFollower {
  readonly #namespace: string;
  readonly #name: string;
  readonly #pace: SecretPace;
  readonly #stop = new AbortController();
  readonly #signal = this.#stop.signal;
  readonly #cluster: KubernetesClient;
  readonly #news: SecretNews;
  /** The Secret's name in messages. */
  readonly #place: string;
  /** Whether the server accepted the watch that is running, or the last one. */
  #isOpen = false;

  constructor(
    config: KubeConfig,
    namespace: string,
    name: string,
    onEvent: (event: SecretEvent) => void,
    pace: SecretPace,
  ) {
    this.#namespace = namespace;
    this.#name = name;
    this.#pace = pace;
    this.#cluster = connectToFollow(config, this.#signal, pace);
    this.#news = new SecretNews(onEvent, this.#signal);
    this.#place = `Secret ${namespace}/${name}`;
  }

  stop(): void {
    this.#stop.abort();
  }

  async run(): Promise<void> {
    const retries = new WatchRetries(this.#pace);
    while (!this.#signal.aborted) {
      const began = performance.now();
      let problem: string;
      let next: AfterWatch;
      this.#isOpen = false;
      // A watch of a Secret begins with an event that says what there is: events say nothing about its life.
      const life = () => ({ isOpen: this.#isOpen, lastedMs: performance.now() - began, events: 0 });
      try {
        await this.#watch();
        next = retries.afterEnd(life());
        problem = `${this.#place}: the API server ends its watch at once`;
      } catch (error) {
        next = retries.afterError(error, life());
        problem = this.#describe(error, 'watch');
      }
      if (next !== 'again') {
        await this.#poll(next.waitMs, problem);
      }
    }
  }

  /** Runs one watch, until the API server ends it. */
  async #watch(): Promise<void> {
    const { watchMs, graceMs } = this.#pace;
    const selector = encodeURIComponent(`metadata.name=${this.#name}`);
    let reading: Promise<void> | undefined;
    // Without a resourceVersion, a watch begins with the current state, but does not report that the Secret is absent.
    // That takes a read, which begins when no change can be missed any more.
    await this.#cluster.watch(`${secretPath(this.#namespace)}?fieldSelector=${selector}`, {
      watchMs,
      graceMs,
      onOpen: () => {
        this.#isOpen = true;
        reading = this.#read().then(
          () => this.#news.tell(undefined),
          (error) => this.#news.tell(this.#describe(error, 'get')),
        );
      },
      onEvent: ({ type, object }) => {
        if (type === 'DELETED') {
          this.#news.pass({ kind: 'absent', reason: `${this.#place} was deleted` });
        } else {
          this.#passSecret(object);
        }
      },
    });
    await reading;
  }

  /** Polls for a while, because the Secret cannot be watched. */
  async #poll(durationMs: number, problem: string): Promise<void> {
    const { pollMs, maxPollMs } = this.#pace;
    const until = performance.now() + durationMs;
    let failures = 0;
    while (!this.#signal.aborted) {
      let asked = 0;
      try {
        await this.#read();
        failures = 0;
        this.#news.tell(`${problem}; until it can be watched, it is read every ${pollMs / 1000} s`);
      } catch (error) {
        failures++;
        asked = askedWait(error);
        this.#news.tell(`${this.#describe(error, 'get')}; the last version that was read stays in use`);
      }
      const next = Math.max(asked, failures === 0 ? pollMs : waitAfter(failures, pollMs, maxPollMs));
      const left = until - performance.now();
      if (left <= next) {
        await this.#wait(Math.max(0, left));
        return;
      }
      await this.#wait(next);
    }
  }

  /** Reads the current state. Rejects when that fails; an absent Secret is also a state. */
  async #read(): Promise<void> {
    const before = this.#news.seen;
    let secret: JsonObject | undefined;
    try {
      secret = await this.#cluster.request('GET', secretPath(this.#namespace, this.#name));
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) {
        throw error;
      }
    }
    if (this.#news.seen !== before) {
      return;
    }
    if (secret === undefined) {
      this.#news.pass({ kind: 'absent', reason: `${this.#place} does not exist` });
    } else {
      this.#passSecret(secret);
    }
  }

  #passSecret(secret: JsonObject): void {
    const data = decodeSecret(secret, this.#namespace, this.#name);
    this.#news.pass({
      kind: 'secret',
      secret: { cert: data['tls.crt'] ?? '', key: data['tls.key'] ?? '', ca: data['ca.crt'] ?? '' },
    });
  }

  #describe(error: unknown, verb: string): string {
    const explained = explain(error, verb, 'secrets', `${this.#namespace}/${this.#name}`) as Error;
    const remedy =
      explained instanceof Forbidden
        ? `; allow get and watch on it, in a Role of namespace ${this.#namespace} for the account of this server`
        : '';
    return `${this.#place}: ${explained.message}${remedy}`;
  }

  #wait(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#signal, ref: false }).catch(() => {});
  }
}

/**
 * Follows a kubernetes.io/tls Secret: its current state, then every change, even if connections are lost or the Secret
 * is absent for a while. Needs `get` and `watch` on it. While it cannot be watched it is polled, and a `watching` event
 * says why. Contents are passed on without validation.
 *
 * @returns a function that stops following.
 */
export function watchServingSecret(
  config: KubeConfig,
  namespace: string,
  name: string,
  onEvent: (event: SecretEvent) => void,
  changes: Partial<SecretPace> = {},
): () => void {
  const follower = new SecretFollower(config, namespace, name, onEvent, { ...defaultPace, ...changes });
  void follower.run();
  return () => follower.stop();
}
