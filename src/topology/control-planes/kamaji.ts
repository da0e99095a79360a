import { isJsonObject } from '../../kubernetes/index.ts';
import type { KindWithoutMachines } from './kind.ts';
import { isOther, refusedChanges } from './refused-changes.ts';

// Facts of clastix/cluster-api-control-plane-provider-kamaji, v0.19 and v0.20: createOrUpdateTenantControlPlane in
// controllers/kamajicontrolplane_controller_tcp.go makes a TenantControlPlane of the spec, which Kamaji runs as a Deployment;
// it has no webhook, but rules in the schema of api/v1alpha1 (v0.19) and api/v1alpha2 (v0.20).

export const kamaji: KindWithoutMachines = {
  group: 'controlplane.cluster.x-k8s.io',
  kind: 'KamajiControlPlane',
  hasMachines: false,
  arrivals: () => [{ path: ['spec'], on: ['its TenantControlPlane, whose Pods run in the management cluster'] }],
  refusal: refusedChanges(undefined, [
    {
      field: 'spec.network.loadBalancerConfig.loadBalancerClass',
      is: isOther,
      why: 'LoadBalancerClass is immutable',
    },
    {
      field: 'spec.network.loadBalancerConfig',
      is: (before, after) =>
        isJsonObject(before) &&
        isJsonObject(after) &&
        (before.loadBalancerClass === undefined) !== (after.loadBalancerClass === undefined),
      why: 'LoadBalancerClass cannot be set or unset at runtime',
    },
    { field: 'spec.dataStoreUsername', is: isOther, why: 'changing the dataStoreUsername is not supported' },
  ]),
};
