import { type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import { coreVersionIn, type HookName, hooks, type Release } from '../../runtimehooks/index.ts';
import type { Blueprint } from '../blueprint/blueprint.ts';
import { clusterInV1beta1 } from '../manifests/v1beta1.ts';
import { withoutBookkeeping } from '../patches/items.ts';

/** A copy of a Cluster as requests of a hook have it in a release (cleanupCluster in exp/topology/desiredstate, v1.14). */
export function clusterInRequest(
  { apiVersion = '', kind = '', metadata = {}, spec = {} }: JsonObject,
  hook: HookName,
  release: Release,
  { infrastructureCluster, controlPlane }: Blueprint,
): JsonObject {
  const cluster = withoutBookkeeping({ kind, apiVersion, metadata, spec });
  if (Object.keys(objectAt(cluster, 'metadata', 'annotations')).length === 0) {
    delete objectAt(cluster, 'metadata').annotations;
  }
  if (coreVersionIn(hooks[hook], release) === 'v1beta2') {
    return cluster;
  }
  return clusterInV1beta1(cluster, (reference) => {
    const origin = [infrastructureCluster, controlPlane.template].find(
      (template) => textAt(template, 'kind') === `${textAt(reference, 'kind')}Template`,
    );
    return textAt(origin, 'apiVersion') || `${textAt(reference, 'apiGroup')}/v1beta1`;
  });
}
