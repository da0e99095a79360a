import type { KubeConfig } from '@kubernetes/client-node';
import { connect, explain, isStatus, type KubernetesClient, readObject } from '../../kubernetes/client/index.ts';
import { fieldAt, type JsonObject, textAt } from '../../kubernetes/index.ts';

export interface LeaseName {
  namespace: string;
  name: string;
}

interface Holder {
  identity: string;
  leaseDurationMs: number;
}

/** The Lease of Cluster API's core manager, as `clusterctl init` installs it. */
export const clusterApiLease = { namespace: 'capi-system', name: 'controller-leader-election-capi' } as const;

/** How recent a renewal proves that its holder is running, in ms: generous, since it compares two clocks. */
const freshMs = 60_000;

const resource = 'leases.coordination.k8s.io';

/** A Lease, and fields of its spec: those that are missing or have another type are empty, or 0. */
function stored(lease: JsonObject) {
  return {
    lease,
    holderIdentity: textAt(lease, 'spec', 'holderIdentity'),
    leaseDurationSeconds: Number(fieldAt(lease, 'spec', 'leaseDurationSeconds')) || 0,
    leaseTransitions: Number(fieldAt(lease, 'spec', 'leaseTransitions')) || 0,
    acquireTime: textAt(lease, 'spec', 'acquireTime'),
    renewTime: textAt(lease, 'spec', 'renewTime'),
  };
}

export type StoredLease = ReturnType<typeof stored>;

/** The spec of a Lease that is acquired, or renewed. */
export function heldSpec(before: StoredLease | undefined, { identity, leaseDurationMs }: Holder, now: Date) {
  const time = now.toISOString().replace('Z', '000Z');
  const isRenewal = before?.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.max(1, Math.round(leaseDurationMs / 1000)),
    acquireTime: (isRenewal && before.acquireTime) || time,
    renewTime: time,
    leaseTransitions: before === undefined ? 0 : before.leaseTransitions + (isRenewal ? 0 : 1),
  };
}

/** The spec of a Lease whose next holder need not wait. */
export function releasedSpec(before: StoredLease, holder: Holder, now: Date) {
  return { ...heldSpec(before, holder, now), holderIdentity: '', leaseDurationSeconds: 1 };
}

/** Reads and writes one Lease. Errors are those of `request`; 403 and 401 become `Forbidden`. */
export function leaseAccess(cluster: KubernetesClient, { namespace, name }: LeaseName) {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const path = `${collection}/${encodeURIComponent(name)}`;
  const key = `${namespace}/${name}`;
  return {
    async read(): Promise<StoredLease | undefined> {
      const lease = await readObject(cluster, path, resource, key);
      return lease && stored(lease);
    },
    /** Replaces the spec of the Lease as it was read, or creates it. Resolves with undefined when another client was faster. */
    async write(before: StoredLease | undefined, spec: JsonObject): Promise<StoredLease | undefined> {
      const created = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
      try {
        return stored(
          await (before === undefined
            ? cluster.request('POST', collection, created)
            : cluster.request('PUT', path, { ...before.lease, spec })),
        );
      } catch (error) {
        // A 404 when creating a Lease means that its namespace does not exist.
        if (isStatus(error, 409) || (isStatus(error, 404) && before !== undefined)) {
          return undefined;
        }
        throw explain(error, before === undefined ? 'create' : 'update', resource, key);
      }
    },
  };
}

/** The holder of a Lease that was renewed lately. @throws {Error} when it cannot be read. */
export async function findRival(kubeConfig: KubeConfig, lease: LeaseName, signal: AbortSignal) {
  const found = await leaseAccess(connect(kubeConfig, signal), lease).read();
  const isFresh = Math.abs(Date.now() - Date.parse(found?.renewTime ?? '')) <= freshMs;
  return isFresh ? found?.holderIdentity || undefined : undefined;
}
