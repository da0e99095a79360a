import { explain, isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { type JsonObject, objectAt } from '../../kubernetes/index.ts';

export interface LeaseName {
  namespace: string;
  name: string;
}

/** The fields of a Lease's spec that an election reads; a Lease without a spec has no holder. */
export interface LeaseSpec {
  /** Empty if there is no holder. */
  holderIdentity: string;
  leaseDurationSeconds: number;
  leaseTransitions: number;
  acquireTime: string | undefined;
  /** Empty if there is none. */
  renewTime: string;
}

/** The holder of a Lease, and for how long it is held, in ms. */
interface Holder {
  identity: string;
  leaseDurationMs: number;
}

const resource = 'leases.coordination.k8s.io';

const microTime = (date: Date) => date.toISOString().replace('Z', '000Z');

export function leasePath(namespace: string, name?: string): string {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}

/** The spec of a Lease, with defaults for fields that are missing or have another type. */
export function specOf(lease: JsonObject): LeaseSpec {
  const spec = objectAt(lease, 'spec');
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, acquireTime, renewTime } = spec;
  return {
    holderIdentity: typeof holderIdentity === 'string' ? holderIdentity : '',
    leaseDurationSeconds: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0,
    leaseTransitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
    acquireTime: typeof acquireTime === 'string' ? acquireTime : undefined,
    renewTime: typeof renewTime === 'string' ? renewTime : '',
  };
}

/** The spec of a Lease that is acquired, or renewed if the holder is unchanged. */
export function heldSpec(before: LeaseSpec | undefined, { identity, leaseDurationMs }: Holder, now: Date): JsonObject {
  const time = microTime(now);
  const isRenewal = before?.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.max(1, Math.round(leaseDurationMs / 1000)),
    acquireTime: (isRenewal ? before.acquireTime : undefined) ?? time,
    renewTime: time,
    leaseTransitions: before === undefined ? 0 : before.leaseTransitions + (isRenewal ? 0 : 1),
  };
}

/** The spec of a Lease that its holder releases, so that the next one need not wait. */
export function releasedSpec(before: LeaseSpec, holder: Holder, now: Date): JsonObject {
  return { ...heldSpec(before, holder, now), holderIdentity: '', leaseDurationSeconds: 1 };
}

/** Reads and writes one Lease. Errors are those of `request`; 403 and 401 become `Forbidden`. */
export function storedLease(cluster: KubernetesClient, { namespace, name }: LeaseName) {
  const path = leasePath(namespace, name);
  const key = `${namespace}/${name}`;
  return {
    /** Resolves with undefined if there is none. */
    async read(): Promise<JsonObject | undefined> {
      try {
        return await cluster.request('GET', path);
      } catch (error) {
        if (isStatus(error, 404)) {
          return undefined;
        }
        throw explain(error, 'get', resource, key);
      }
    },
    /**
     * Replaces the spec of the Lease as it was read, or creates it if there was none. Resolves with the Lease; with
     * undefined when another client was faster.
     */
    async write(lease: JsonObject | undefined, spec: JsonObject): Promise<JsonObject | undefined> {
      const created = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
      try {
        return await (lease === undefined
          ? cluster.request('POST', leasePath(namespace), created)
          : cluster.request('PUT', path, { ...lease, spec }));
      } catch (error) {
        // A 404 when creating a Lease means that its namespace does not exist.
        if (isStatus(error, 409) || (isStatus(error, 404) && lease !== undefined)) {
          return undefined;
        }
        throw explain(error, lease === undefined ? 'create' : 'update', resource, key);
      }
    },
  };
}

export type StoredLease = ReturnType<typeof storedLease>;
