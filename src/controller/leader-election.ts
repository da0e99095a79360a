import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { type Cluster, connect, explain, StatusError } from '../cluster/index.ts';
import { isJsonObject, type JsonObject } from '../kubernetes/index.ts';

/** Options of an election. The default times are client-go's. */
export interface LeaderElectionOptions {
  /** The Lease. */
  namespace: string;
  name: string;
  /** Identity of this candidate; must be unique. Default: host name and a random part. */
  identity?: string | undefined;
  /** How long others wait after the last renewal that they saw, in ms; whole seconds. Default: 15,000. */
  leaseDurationMs?: number;
  /** How long the leader goes on without a renewal, in ms; less than `leaseDurationMs`. Default: 10,000. */
  renewDeadlineMs?: number;
  /** Pause between two tries, in ms. Default: 2,000. */
  retryPeriodMs?: number;
}

/** What an election needs besides its options. */
export interface ElectionRun extends Required<Omit<LeaderElectionOptions, 'identity'>> {
  kubeConfig: KubeConfig;
  identity: string;
  log: Logger;
  /** For the times in the Lease, which no decision depends on. */
  now: () => Date;
  /** Milliseconds of a clock that never steps: all decisions are made by it. */
  monotonicMs: () => number;
  onElected(): void;
  /** The leadership ends at this moment: nothing may be written any more. */
  onLost(reason: string): void;
}

/** A candidate, or the leader. */
export interface Election {
  /**
   * Whether this is the leader now. It is asked before each write, since a process that was halted does not run its
   * timers in time.
   */
  readonly isLeading: boolean;
  readonly leader: string;
  /** Why the Lease cannot be read or written; undefined when it can. */
  readonly problem: string | undefined;
  /** Ends the candidacy; a leader releases the Lease, so that another need not wait. Never rejects. */
  stop(): Promise<void>;
}

/** Names that a Lease may have in the spec, as far as this reads them. */
interface LeaseSpec {
  holderIdentity: string;
  leaseDurationSeconds: number;
  leaseTransitions: number;
  acquireTime: string | undefined;
}

const microTime = (date: Date) => date.toISOString().replace('Z', '000Z');

function specOf(lease: JsonObject): LeaseSpec {
  const spec = isJsonObject(lease.spec) ? lease.spec : {};
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, acquireTime } = spec;
  return {
    holderIdentity: typeof holderIdentity === 'string' ? holderIdentity : '',
    leaseDurationSeconds: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0,
    leaseTransitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
    acquireTime: typeof acquireTime === 'string' ? acquireTime : undefined,
  };
}

/** Path of Leases at the API server. */
export function leasePath(namespace: string, name?: string): string {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}

/**
 * Takes part in an election by a Lease, as client-go does it: a candidate takes over when it has seen no renewal for
 * the duration of the Lease, on its own clock; a leader that cannot renew within `renewDeadlineMs` stops before that.
 * So at most one leads, whatever the clocks say. After a loss it is a candidate again.
 */
export function startElection(run: ElectionRun): Election {
  const { identity, log, now, monotonicMs, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = run;
  const path = leasePath(run.namespace, run.name);
  const what = `Lease ${run.namespace}/${run.name}`;
  const stop = new AbortController();
  const cluster: Cluster = connect(run.kubeConfig, stop.signal, {
    retries: 0,
    minTimeoutMs: 0,
    maxTimeoutMs: 0,
    deadlineMs: Math.max(retryPeriodMs, renewDeadlineMs / 2),
  });
  /** The Lease as last seen, and when its present state was first seen. */
  let seen: { lease: JsonObject; text: string; at: number } | undefined;
  /** When the last successful renewal was sent; undefined when not the leader. */
  let renewedAt: number | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let problem: string | undefined;
  let ended: Promise<void> | undefined;

  function see(lease: JsonObject): LeaseSpec {
    // A Lease without a spec has no holder.
    const text = JSON.stringify(lease.spec ?? null);
    if (seen?.text !== text) {
      seen = { lease, text, at: monotonicMs() };
    } else {
      seen.lease = lease;
    }
    return specOf(lease);
  }

  function lose(reason: string): void {
    if (renewedAt !== undefined) {
      renewedAt = undefined;
      clearTimeout(deadline);
      log.warn({ lease: what, identity, reason }, 'leadership lost');
      run.onLost(reason);
    }
  }

  function hold(since: number): void {
    const isNew = renewedAt === undefined;
    renewedAt = since;
    clearTimeout(deadline);
    deadline = setTimeout(
      () =>
        lose(`the Lease was not renewed for ${renewDeadlineMs / 1000} s${problem === undefined ? '' : `: ${problem}`}`),
      Math.max(0, since + renewDeadlineMs - monotonicMs()),
    );
    deadline.unref();
    if (isNew && ended === undefined) {
      log.info({ lease: what, identity }, 'leadership won');
      run.onElected();
    }
  }

  function wanted(before: LeaseSpec | undefined): JsonObject {
    const time = microTime(now());
    const isRenewal = before?.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.max(1, Math.round(leaseDurationMs / 1000)),
      acquireTime: (isRenewal ? before.acquireTime : undefined) ?? time,
      renewTime: time,
      leaseTransitions: before === undefined ? 0 : before.leaseTransitions + (isRenewal ? 0 : 1),
    };
  }

  async function read(): Promise<JsonObject | undefined> {
    try {
      return await cluster.request('GET', path);
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) {
        return undefined;
      }
      throw explain(error, 'get', 'leases.coordination.k8s.io', `${run.namespace}/${run.name}`);
    }
  }

  /** One try to take or to renew the Lease. */
  async function attempt(): Promise<void> {
    // A leader knows the Lease; if it was changed, the next try reads it again.
    const known = renewedAt === undefined ? await read() : seen?.lease;
    const began = monotonicMs();
    try {
      if (known === undefined) {
        see(
          await cluster.request('POST', leasePath(run.namespace), {
            apiVersion: 'coordination.k8s.io/v1',
            kind: 'Lease',
            metadata: { name: run.name, namespace: run.namespace },
            spec: wanted(undefined),
          }),
        );
      } else {
        const spec = see(known);
        const held = spec.holderIdentity !== '' && spec.holderIdentity !== identity;
        if (held && seen !== undefined && monotonicMs() < seen.at + spec.leaseDurationSeconds * 1000) {
          return;
        }
        see(await cluster.request('PUT', path, { ...known, spec: wanted(spec) }));
      }
    } catch (error) {
      // 404 without a Lease is that of its namespace.
      const isChanged =
        error instanceof StatusError && (error.code === 409 || (error.code === 404 && known !== undefined));
      if (!isChanged) {
        throw explain(error, known === undefined ? 'create' : 'update', 'leases.coordination.k8s.io', what.slice(6));
      }
      const lease = await read();
      const holder = lease === undefined ? '' : see(lease).holderIdentity;
      if (holder !== identity) {
        lose(holder === '' ? 'the Lease was taken away' : `${holder} holds the Lease`);
        return;
      }
      // Another client changed a label or the like: the next try has the new version.
      return;
    }
    if (!stop.signal.aborted) {
      hold(began);
    }
  }

  async function candidature(): Promise<void> {
    while (!stop.signal.aborted && ended === undefined) {
      try {
        await attempt();
        problem = undefined;
      } catch (error) {
        if (!stop.signal.aborted && problem !== (error as Error).message) {
          problem = (error as Error).message;
          log.warn({ lease: what, problem }, 'the Lease cannot be read or written');
        }
      }
      // Jitter for candidates; a leader is punctual.
      const wait = renewedAt === undefined ? retryPeriodMs * (1 + Math.random() * 0.2) : retryPeriodMs;
      await sleep(wait, undefined, { signal: pause.signal, ref: false }).catch(() => {});
    }
  }

  const pause = new AbortController();
  const working = candidature();

  async function end(): Promise<void> {
    pause.abort();
    await working;
    clearTimeout(deadline);
    const lease = seen?.lease;
    if (renewedAt !== undefined && lease !== undefined) {
      renewedAt = undefined;
      const time = microTime(now());
      const spec = { ...wanted(specOf(lease)), holderIdentity: '', leaseDurationSeconds: 1, renewTime: time };
      await cluster.request('PUT', path, { ...lease, spec }).catch((error: Error) => {
        log.warn({ lease: what, problem: error.message }, 'the Lease could not be given back; others wait for its end');
      });
    }
    stop.abort();
  }

  return {
    get isLeading() {
      return renewedAt !== undefined && monotonicMs() < renewedAt + renewDeadlineMs;
    },
    get leader() {
      return seen === undefined ? '' : specOf(seen.lease).holderIdentity;
    },
    get problem() {
      return problem;
    },
    stop() {
      ended ??= end();
      return ended;
    },
  };
}
