import type { KindWithoutMachines } from './kind.ts';

/**
 * Fields that an update of OKE carries (UpdateControlPlane and ReconcileAddons in cloud/scope/managed_control_plane.go);
 * another one that differs from what OKE has is compared at each reconcile, and stays as it is.
 */
const written = [
  ...['version', 'imagePolicyConfig', 'clusterType', 'addons'].map((field) => [field]),
  ...['admissionControllerOptions', 'openIdConnectDiscovery', 'openIdConnectTokenAuthenticationConfig'].map((field) => [
    'clusterOptions',
    field,
  ]),
];
const kept = [['id'], ['clusterPodNetworkOptions'], ['kmsKeyId'], ['clusterOptions', 'addOnOptions']];

/**
 * OCIManagedControlPlane (oracle/cluster-api-provider-oci, v0.23 and v0.24). Its webhook takes every update
 * (api/v1beta2/ocimanagedcontrolplane_webhook.go); what OKE refuses is not known.
 */
export const ociManaged: KindWithoutMachines = {
  group: 'infrastructure.cluster.x-k8s.io',
  kind: 'OCIManagedControlPlane',
  hasMachines: false,
  arrivals: () => [
    ...written.map((path) => ({ path: ['spec', ...path], on: ['OKE'] })),
    ...kept.map((path) => ({ path: ['spec', ...path], on: ['new clusters of OKE only'] })),
  ],
};
