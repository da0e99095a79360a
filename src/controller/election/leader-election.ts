import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { connect } from '../../kubernetes/client/index.ts';
import { Leadership } from './leadership.ts';
import { heldSpec, releasedSpec, type StoredLease, specOf, storedLease } from './lease.ts';
import { SeenLease } from './seen-lease.ts';

/** Options of an election. The default times are client-go's. */
export interface LeaderElectionOptions {
  /** The Lease. */
  namespace: string;
  name: string;
  /** Identity of this candidate, which must be unique. Default: the host name and a random suffix. */
  identity?: string | undefined;
  /**
   * How long other candidates wait after the last renewal that they have seen, in ms; whole seconds. Default: 15,000.
   */
  leaseDurationMs?: number;
  /** How long the leader continues without a renewal, in ms; less than `leaseDurationMs`. Default: 10,000. */
  renewDeadlineMs?: number;
  /** Pause between two attempts, in ms. Default: 2,000. */
  retryPeriodMs?: number;
}

/** The dependencies of an election besides its options. */
export interface ElectionRun extends Required<Omit<LeaderElectionOptions, 'identity'>> {
  kubeConfig: KubeConfig;
  identity: string;
  log: Logger;
  /** For the times in the Lease, which no decision depends on. */
  now: () => Date;
  /** Returns milliseconds of a monotonic clock, on which all decisions are based. */
  monotonicMs: () => number;
  onElected(): void;
  /** Called at the moment when the leadership ends: nothing may be written from then on. */
  onLost(reason: string): void;
}

/**
 * Participates in an election with a Lease, as client-go does. A candidate takes over when it has seen no renewal for
 * the duration of the Lease, by its own clock; a leader that cannot renew within `renewDeadlineMs` stops before that.
 * So there is at most one leader, whatever the clocks say. After losing the leadership it is a candidate again.
 */
export class Candidate {
  readonly #run: ElectionRun;
  readonly #what: string;
  /** Aborts requests. */
  readonly #stop = new AbortController();
  /** Ends the pause between two attempts. */
  readonly #pause = new AbortController();
  readonly #lease: StoredLease;
  readonly #seen: SeenLease;
  readonly #leadership: Leadership;
  readonly #working: Promise<void>;
  #problem: string | undefined;
  #ended: Promise<void> | undefined;

  constructor(run: ElectionRun) {
    const { kubeConfig, monotonicMs, renewDeadlineMs, retryPeriodMs } = run;
    this.#run = run;
    this.#what = `Lease ${run.namespace}/${run.name}`;
    const cluster = connect(kubeConfig, this.#stop.signal, {
      retries: 0,
      deadlineMs: Math.max(retryPeriodMs, renewDeadlineMs / 2),
    });
    this.#lease = storedLease(cluster, run);
    this.#seen = new SeenLease(monotonicMs);
    this.#leadership = new Leadership({ renewDeadlineMs, monotonicMs, onLate: () => this.#loseLate() });
    this.#working = this.#work();
  }

  /**
   * Whether this candidate leads at this moment. Checked before each write, since the timers of a suspended process are
   * late.
   */
  get isLeading(): boolean {
    return this.#leadership.isInTime;
  }

  /** Why the Lease cannot be read or written; undefined if it can. */
  get problem(): string | undefined {
    return this.#problem;
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
        this.#problem = undefined;
      } catch (error) {
        const { message } = error as Error;
        if (this.#problem !== message) {
          this.#problem = message;
          log.warn({ lease: this.#what, problem: message }, 'the Lease cannot be read or written');
        }
      }
      // Candidates get jitter; the leader renews on time.
      const wait = this.#leadership.isHeld ? retryPeriodMs : retryPeriodMs * (1 + Math.random() * 0.2);
      await sleep(wait, undefined, { signal: this.#pause.signal, ref: false }).catch(() => {});
    }
  }

  /** Makes one attempt to acquire or renew the Lease. */
  async #try(): Promise<void> {
    // The leader knows the Lease; if another client has changed it, the next attempt reads it again.
    const known = this.#leadership.isHeld ? this.#seen.lease : await this.#lease.read();
    const began = this.#run.monotonicMs();
    const before = known && this.#seen.see(known);
    if (known !== undefined && this.#seen.isHeldByOther(this.#run.identity)) {
      return;
    }
    const spec = heldSpec(before, this.#run, this.#run.now());
    const written = await (known === undefined ? this.#lease.create(spec) : this.#lease.update(known, spec));
    if (written === 'changed') {
      await this.#lookAgain();
    } else {
      this.#seen.see(written.lease);
      this.#hold(began);
    }
  }

  /** Another client has changed the Lease, perhaps only a label: the next attempt uses the new version. */
  async #lookAgain(): Promise<void> {
    const lease = await this.#lease.read();
    if (lease === undefined) {
      this.#lose('the Lease was deleted');
      return;
    }
    const { holderIdentity } = this.#seen.see(lease);
    if (holderIdentity !== this.#run.identity) {
      this.#lose(
        holderIdentity === '' ? 'the Lease was released by another client' : `${holderIdentity} holds the Lease`,
      );
    }
  }

  #hold(since: number): void {
    const { identity, log } = this.#run;
    const isNew = !this.#leadership.isHeld;
    this.#leadership.hold(since);
    if (isNew && this.#ended === undefined) {
      log.info({ lease: this.#what, identity }, 'leadership won');
      this.#run.onElected();
    }
  }

  #lose(reason: string): void {
    const { identity, log } = this.#run;
    if (this.#leadership.end()) {
      log.warn({ lease: this.#what, identity, reason }, 'leadership lost');
      this.#run.onLost(reason);
    }
  }

  #loseLate(): void {
    const why = this.#problem === undefined ? '' : `: ${this.#problem}`;
    this.#lose(`the Lease was not renewed for ${this.#run.renewDeadlineMs / 1000} s${why}`);
  }

  async #end(): Promise<void> {
    const { log, now } = this.#run;
    this.#pause.abort();
    await this.#working;
    const { lease } = this.#seen;
    if (this.#leadership.end() && lease !== undefined) {
      const spec = releasedSpec(specOf(lease), this.#run, now());
      await this.#lease.release(lease, spec).catch(({ message }: Error) => {
        const fields = { lease: this.#what, problem: message };
        log.warn(fields, 'the Lease could not be released; other replicas wait until it expires');
      });
    }
    this.#stop.abort();
  }
}
