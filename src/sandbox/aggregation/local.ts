import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../kubernetes/index.ts';
import { type ApiService, apiServiceStorage } from '../kinds/api-service.ts';
import { withCondition } from '../kinds/conditions.ts';
import { definitionStorage } from '../kinds/definition.ts';
import { soon } from '../kinds/soon.ts';
import type { Registry } from '../resources/registry.ts';
import { type Store, storageKey } from '../storage/store.ts';
import { locally } from './availability.ts';

/** The label of objects that this controller creates and deletes. */
const managedLabel = 'kube-aggregator.kubernetes.io/automanaged';

function objectOf(group: string, version: string, isCustom: boolean, now: string): JsonObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: {
      name: `${version}.${group}`,
      uid: randomUUID(),
      creationTimestamp: now,
      labels: { [managedLabel]: isCustom ? 'true' : 'onstart' },
    },
    spec: {
      ...(group === '' ? {} : { group }),
      version,
      groupPriorityMinimum: isCustom ? 1000 : 17_000,
      versionPriority: isCustom ? 100 : 15,
    },
    status: { conditions: withCondition([], locally, now) },
  };
}

/**
 * Keeps an APIService for each group and version that the API server serves itself, as a kube-apiserver does.
 *
 * @returns a function that stops it.
 */
export function keepLocalApiServices(context: { store: Store; registry: Registry; now(): string }): () => void {
  const { store, registry } = context;
  const apiServices = store.collection(apiServiceStorage);
  const { schedule, stop } = soon(reconcile);

  function reconcile(): void {
    const served = new Set<string>();
    for (const [group, versions] of registry.groups()) {
      // The aggregator's own group has no APIService.
      for (const version of group === 'apiregistration.k8s.io' ? [] : versions) {
        const key = storageKey('', `${version}.${group}`);
        served.add(key);
        if (apiServices.get(key) === undefined) {
          const isCustom = registry.of(group, version).every((resource) => resource.isCustom);
          apiServices.create(key, objectOf(group, version, isCustom, context.now()));
        }
      }
    }
    for (const [key, object] of apiServices.list()) {
      const { metadata, spec } = object as unknown as ApiService;
      if (!served.has(key) && spec.service === undefined && metadata.labels?.[managedLabel] !== undefined) {
        apiServices.delete(key, object);
      }
    }
  }

  const subscriptions = [
    apiServices.subscribe(({ type }) => type === 'DELETED' && schedule()),
    // Deferred, since the registry follows definitions asynchronously.
    store.collection(definitionStorage).subscribe(() => setImmediate(schedule)),
  ];
  reconcile();
  return () => {
    stop();
    for (const unsubscribe of subscriptions) {
      unsubscribe();
    }
  };
}
