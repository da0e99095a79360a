import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { connect, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { heldSpec, type LeaseName, leaseAccess, releasedSpec, type StoredLease } from './lease.ts';

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
export function createCandidate(options: ElectionRun) {
  const run = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, ...options };
  const { kubeConfig, identity, log, now, monotonicMs, renewDeadlineMs, retryPeriodMs } = run;
  const what = `Lease ${run.namespace}/${run.name}`;
  const connection = new AbortController();
  const pause = new AbortController();
  const deadlineMs = Math.max(retryPeriodMs, renewDeadlineMs / 2);
  const lease = leaseAccess(connect(kubeConfig, connection.signal, { retries: 0, deadlineMs }), run);
  /** The spec of another holder's Lease, and since when it is unchanged. */
  let seen: { spec: string; since: number } | undefined;
  /** When the last successful renewal was sent; undefined while not the leader. */
  let renewedAt: number | undefined;
  /** The Lease as this leader has written it last; undefined while that is not known. */
  let held: StoredLease | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let problem: string | undefined;
  let ended: Promise<void> | undefined;

  async function work(): Promise<void> {
    while (ended === undefined) {
      try {
        await attempt();
        problem = undefined;
      } catch (error) {
        const { message } = error as Error;
        if (problem !== message) {
          problem = message;
          log.warn({ lease: what, problem }, 'the Lease cannot be read or written');
        }
      }
      // Candidates get jitter; the leader renews on time.
      const wait = renewedAt !== undefined ? retryPeriodMs : retryPeriodMs * (1 + Math.random() * 0.2);
      await sleep(wait, undefined, { signal: pause.signal, ref: false }).catch(() => {});
    }
  }

  async function attempt(): Promise<void> {
    const known = held;
    const stored = known ?? (await lease.read());
    const holder = stored?.holderIdentity ?? '';
    if (renewedAt !== undefined && holder !== identity) {
      const released = stored === undefined ? 'the Lease was deleted' : 'the Lease was released by another client';
      lose(holder === '' ? released : `${holder} holds the Lease`);
      return;
    }
    if (stored !== undefined && holder !== '' && holder !== identity && !isAbandoned(stored)) {
      return;
    }
    const sentAt = monotonicMs();
    // If the answer is lost, the next attempt reads what is there.
    held = undefined;
    held = await lease.write(stored, heldSpec(stored, run, now()));
    if (held !== undefined) {
      hold(sentAt);
    } else if (known !== undefined) {
      await attempt();
    }
  }

  /** Told by how long its spec has been unchanged: the times in it come from another clock. */
  function isAbandoned({ lease: { spec: current }, leaseDurationSeconds }: StoredLease): boolean {
    const spec = JSON.stringify(current);
    if (seen?.spec !== spec) {
      seen = { spec, since: monotonicMs() };
    }
    return monotonicMs() >= seen.since + leaseDurationSeconds * 1000;
  }

  /** Begins or renews the leadership, as of the time when the request for the Lease was sent. */
  function hold(sentAt: number): void {
    const isNew = renewedAt === undefined;
    renewedAt = sentAt;
    clearTimeout(deadline);
    const lateIn = Math.max(0, sentAt + renewDeadlineMs - monotonicMs());
    deadline = setTimeout(() => {
      const why = problem === undefined ? '' : `: ${problem}`;
      lose(`the Lease was not renewed for ${renewDeadlineMs / 1000} s${why}`);
    }, lateIn).unref();
    if (isNew && ended === undefined) {
      log.info({ lease: what, identity }, 'leadership won');
      run.onElected();
    }
  }

  function lose(reason: string): void {
    if (renewedAt !== undefined) {
      forget();
      log.warn({ lease: what, identity, reason }, 'leadership lost');
      run.onLost(reason);
    }
  }

  function forget(): void {
    renewedAt = undefined;
    held = undefined;
    clearTimeout(deadline);
  }

  async function end(): Promise<void> {
    pause.abort();
    await working;
    if (renewedAt !== undefined) {
      const known = held;
      forget();
      try {
        const stored = known ?? (await lease.read());
        const isOurs = stored?.holderIdentity === identity;
        if (!isOurs || !(await lease.write(stored, releasedSpec(stored, run, now())))) {
          throw new Error('another client has changed it');
        }
      } catch (error) {
        const fields = { lease: what, problem: (error as Error).message };
        log.warn(fields, 'the Lease could not be released; other replicas wait until it expires');
      }
    }
    connection.abort();
  }

  /** Checked before each write, since the timers of a suspended process are late. */
  const isLeading = () => renewedAt !== undefined && monotonicMs() < renewedAt + renewDeadlineMs;

  const working = work();
  return {
    /** Why the Lease cannot be read or written; undefined if it can. */
    get problem(): string | undefined {
      return problem;
    },
    get isLeading(): boolean {
      return isLeading();
    },
    /** A connection whose writes fail when this candidate does not lead: a former leader never writes. */
    guard: (cluster: KubernetesClient): KubernetesClient => ({
      ...cluster,
      request: async (method, path, body) => {
        if (method !== 'GET' && !isLeading()) {
          throw new Error('another replica leads now; nothing is written');
        }
        return cluster.request(method, path, body);
      },
    }),
    /** Ends the candidacy. A leader releases the Lease, so that another candidate need not wait. Never rejects. */
    stop(): Promise<void> {
      ended ??= end();
      return ended;
    },
  };
}
