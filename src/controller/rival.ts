import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesClient } from '../kubernetes/client/index.ts';
import { type LeaseName, specOf, storedLease } from './election/lease.ts';
import type { ControllerPace } from './queue/pace.ts';

/** The Lease of Cluster API's core manager, as `clusterctl init` installs it. */
export const clusterApiLease = { namespace: 'capi-system', name: 'controller-leader-election-capi' } as const;

/** Cluster API's own controller does the same work in this cluster. */
export class RivalError extends Error {}

/** How recent a renewal must be to prove that its holder is running, in ms: generous, since it compares two clocks. */
const freshMs = 60_000;
/** The duration of a Lease that names none, in seconds: client-go's default. */
const defaultDurationSeconds = 15;
/** Longest wait for another renewal, in ms. */
const maxWaitMs = 60_000;

/**
 * Checks whether Cluster API's controller runs in the cluster, which renews its Lease. To tell a stale Lease from a
 * current one regardless of clocks, it waits for another renewal.
 *
 * @returns the holder, or undefined.
 * @throws {Error} when the Lease cannot be read.
 */
async function findRival(
  cluster: KubernetesClient,
  lease: LeaseName,
  now: () => Date,
  signal: AbortSignal,
): Promise<string | undefined> {
  const stored = storedLease(cluster, lease);
  const read = async () => {
    const current = await stored.read();
    return current && specOf(current);
  };
  const spec = await read();
  if (spec === undefined || spec.holderIdentity === '') {
    return undefined;
  }
  if (Math.abs(now().getTime() - Date.parse(spec.renewTime)) <= freshMs) {
    return spec.holderIdentity;
  }
  const durationMs = (spec.leaseDurationSeconds || defaultDurationSeconds) * 1000;
  await sleep(Math.min(durationMs, maxWaitMs), undefined, { signal, ref: false });
  const later = await read();
  return later !== undefined && later.renewTime !== spec.renewTime ? later.holderIdentity || undefined : undefined;
}

interface RivalWatch {
  cluster: KubernetesClient;
  lease: LeaseName;
  now: () => Date;
  pace: Pick<ControllerPace, 'rivalCheckMs' | 'rivalRetryMs'>;
  signal: AbortSignal;
  /** Called once, when there is no rival and the work may begin. */
  onFree(): void;
  /** Why it is unknown whether there is a rival. Only called before `onFree`: work that has begun continues. */
  onUnknown(problem: string): void;
}

/**
 * Looks for Cluster API's controller before the work begins, and from then on.
 *
 * @returns the error that ends the work; undefined when `signal` was aborted first. Never rejects.
 */
export async function watchForRival(watch: RivalWatch): Promise<RivalError | undefined> {
  const { cluster, lease, now, pace, signal } = watch;
  let isFree = false;
  while (!signal.aborted) {
    try {
      const holder = await findRival(cluster, lease, now, signal);
      if (signal.aborted) {
        return undefined;
      }
      if (holder !== undefined) {
        return new RivalError(
          `Cluster API's own controller discovers extensions in this cluster: ${holder} holds the Lease ${lease.namespace}/${lease.name}. The two would overwrite each other's status; use the mode advise or observe`,
        );
      }
      if (!isFree) {
        isFree = true;
        watch.onFree();
      }
    } catch (error) {
      if (!isFree && !signal.aborted) {
        watch.onUnknown(`cannot tell whether Cluster API's own controller is running: ${(error as Error).message}`);
      }
    }
    await sleep(isFree ? pace.rivalCheckMs : pace.rivalRetryMs, undefined, { signal, ref: false }).catch(() => {});
  }
  return undefined;
}
