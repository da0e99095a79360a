import type { KubeConfig } from '@kubernetes/client-node';
import { connect } from '../kubernetes/client/index.ts';
import { type LeaseName, specOf, storedLease } from './election/lease.ts';

/** The Lease of Cluster API's core manager, as `clusterctl init` installs it. */
export const clusterApiLease = { namespace: 'capi-system', name: 'controller-leader-election-capi' } as const;

/** How recent a renewal must be to prove that its holder is running, in ms: generous, since it compares two clocks. */
const freshMs = 60_000;

/**
 * The holder of a Lease that was renewed lately: Cluster API's controller, which does the same work in this cluster.
 *
 * @throws {Error} when the Lease cannot be read.
 */
export async function findRival(
  kubeConfig: KubeConfig,
  lease: LeaseName,
  signal: AbortSignal,
): Promise<string | undefined> {
  const stored = await storedLease(connect(kubeConfig, signal), lease).read();
  const { holderIdentity = '', renewTime = '' } = stored === undefined ? {} : specOf(stored);
  const isFresh = Math.abs(Date.now() - Date.parse(renewTime)) <= freshMs;
  return holderIdentity !== '' && isFresh ? holderIdentity : undefined;
}
