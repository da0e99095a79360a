import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { connect, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { heldSpec, type LeaseAccess, type LeaseName, leaseAccess, releasedSpec, type StoredLease } from './lease.ts';

/** Options of an election. The default times are client-go's. */
export interface LeaderElectionOptions extends LeaseName {
  /** Must be unique. Default: the host name and a random suffix. */
  identity?: string | undefined;
  /** How long other candidates wait after the last renewal that they have seen, in ms; whole seconds. Default: 15,000. */
  leaseDurationMs?: number;
  /** How long the leader continues without a renewal, in ms; less than `leaseDurationMs`. Default: 10,000. */
  renewDeadlineMs?: number;
  /** Pause between two attempts, in ms. Default: 2,000. */
  retryPeriodMs?: number;
}

export interface ElectionRun extends LeaderElectionOptions {
  kubeConfig: KubeConfig;
  identity: string;
  log: Logger;
  /** For the times in the Lease, which no decision depends on. */
  now: () => Date;
  /** Milliseconds of a monotonic clock, on which all decisions are based. */
  monotonicMs: () => number;
  onElected(): void;
  /** Nothing may be written from then on. */
  onLost(reason: string): void;
}

/**
 * A candidate takes over when it has seen no renewal for the duration of the Lease, by its own clock; a leader that cannot
 * renew within `renewDeadlineMs` stops before that. So there is at most one leader, as with client-go.
 */
export class Candidate {
  readonly #run: Required<ElectionRun> & { identity: string };
  readonly #what: string;
  readonly #stop = new AbortController();
  readonly #pause = new AbortController();
  readonly #lease: LeaseAccess;
  readonly #working: Promise<void>;
  /** The spec of another holder's Lease, and since when it is unchanged. */
  #seen: { spec: string; since: number } | undefined;
  /** When the last successful renewal was sent; undefined while not the leader. */
  #renewedAt: number | undefined;
  /** The Lease as this leader has written it last; undefined while that is not known. */
  #held: StoredLease | undefined;
  #deadline: NodeJS.Timeout | undefined;
  problem: string | undefined;
  #ended: Promise<void> | undefined;

  constructor(run: ElectionRun) {
    this.#run = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, ...run };
    const { kubeConfig, renewDeadlineMs, retryPeriodMs } = this.#run;
    this.#what = `Lease ${run.namespace}/${run.name}`;
    const cluster = connect(kubeConfig, this.#stop.signal, {
      retries: 0,
      deadlineMs: Math.max(retryPeriodMs, renewDeadlineMs / 2),
    });
    this.#lease = leaseAccess(cluster, run);
    this.#working = this.#work();
  }

  /** Checked before each write, since the timers of a suspended process are late. */
  get isLeading(): boolean {
    const { monotonicMs, renewDeadlineMs } = this.#run;
    return this.#renewedAt !== undefined && monotonicMs() < this.#renewedAt + renewDeadlineMs;
  }

  /** A connection whose writes fail when this candidate does not lead: a former leader never writes. */
  guard(cluster: KubernetesClient): KubernetesClient {
    return {
      ...cluster,
      request: async (method, path, body) => {
        if (method !== 'GET' && !this.isLeading) {
          throw new Error('another replica leads now; nothing is written');
        }
        return cluster.request(method, path, body);
      },
    };
  }

  /** Ends the candidacy. A leader releases the Lease, so that another candidate need not wait. Never rejects. */
  stop(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #work(): Promise<void> {
    const { log, retryPeriodMs } = this.#run;
    while (this.#ended === undefined) {
      try {
        await this.#try();
        this.problem = undefined;
      } catch (error) {
        const { message } = error as Error;
        if (this.problem !== message) {
          this.problem = message;
          log.warn({ lease: this.#what, problem: message }, 'the Lease cannot be read or written');
        }
      }
      // Candidates get jitter; the leader renews on time.
      const wait = this.#renewedAt !== undefined ? retryPeriodMs : retryPeriodMs * (1 + Math.random() * 0.2);
      await sleep(wait, undefined, { signal: this.#pause.signal, ref: false }).catch(() => {});
    }
  }

  async #try(): Promise<void> {
    const { identity, monotonicMs, now } = this.#run;
    const held = this.#held;
    const stored = held ?? (await this.#lease.read());
    const holder = stored?.holderIdentity ?? '';
    if (this.#renewedAt !== undefined && holder !== identity) {
      const released = stored === undefined ? 'the Lease was deleted' : 'the Lease was released by another client';
      this.#lose(holder === '' ? released : `${holder} holds the Lease`);
      return;
    }
    if (stored !== undefined && holder !== '' && holder !== identity && !this.#isAbandoned(stored)) {
      return;
    }
    const sentAt = monotonicMs();
    // If the answer is lost, the next attempt reads what is there.
    this.#held = undefined;
    this.#held = await this.#lease.write(stored, heldSpec(stored, this.#run, now()));
    if (this.#held !== undefined) {
      this.#hold(sentAt);
    } else if (held !== undefined) {
      await this.#try();
    }
  }

  /** Told by how long its spec has been unchanged: the times in it come from another clock. */
  #isAbandoned({ lease, leaseDurationSeconds }: StoredLease): boolean {
    const spec = JSON.stringify(lease.spec);
    const now = this.#run.monotonicMs();
    if (this.#seen?.spec !== spec) {
      this.#seen = { spec, since: now };
    }
    return now >= this.#seen.since + leaseDurationSeconds * 1000;
  }

  /** Begins or renews the leadership, as of the time when the request for the Lease was sent. */
  #hold(sentAt: number): void {
    const { identity, log, monotonicMs, renewDeadlineMs, onElected } = this.#run;
    const isNew = this.#renewedAt === undefined;
    this.#renewedAt = sentAt;
    clearTimeout(this.#deadline);
    const lateIn = Math.max(0, sentAt + renewDeadlineMs - monotonicMs());
    this.#deadline = setTimeout(() => {
      const why = this.problem === undefined ? '' : `: ${this.problem}`;
      this.#lose(`the Lease was not renewed for ${renewDeadlineMs / 1000} s${why}`);
    }, lateIn).unref();
    if (isNew && this.#ended === undefined) {
      log.info({ lease: this.#what, identity }, 'leadership won');
      onElected();
    }
  }

  #lose(reason: string): void {
    const { identity, log, onLost } = this.#run;
    if (this.#renewedAt !== undefined) {
      this.#forget();
      log.warn({ lease: this.#what, identity, reason }, 'leadership lost');
      onLost(reason);
    }
  }

  #forget(): void {
    this.#renewedAt = undefined;
    this.#held = undefined;
    clearTimeout(this.#deadline);
  }

  async #end(): Promise<void> {
    const { log } = this.#run;
    this.#pause.abort();
    await this.#working;
    if (this.#renewedAt !== undefined) {
      const held = this.#held;
      this.#forget();
      try {
        const stored = held ?? (await this.#lease.read());
        const isOurs = stored?.holderIdentity === this.#run.identity;
        if (!isOurs || !(await this.#lease.write(stored, releasedSpec(stored, this.#run, this.#run.now())))) {
          throw new Error('another client has changed it');
        }
      } catch (error) {
        const fields = { lease: this.#what, problem: (error as Error).message };
        log.warn(fields, 'the Lease could not be released; other replicas wait until it expires');
      }
    }
    this.#stop.abort();
  }
}
