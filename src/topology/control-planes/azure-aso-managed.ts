import type { KindWithoutMachines } from './kind.ts';

/**
 * AzureASOManagedControlPlane (kubernetes-sigs/cluster-api-provider-azure, v1.25 and v1.26): it applies the resources that it
 * lists, and Azure Service Operator writes them to AKS. Its webhook takes every update
 * (internal/webhooks/azureasomanagedcontrolplane_webhook.go); what the operator and AKS refuse is not known.
 */
export const azureAsoManaged: KindWithoutMachines = {
  group: 'infrastructure.cluster.x-k8s.io',
  kind: 'AzureASOManagedControlPlane',
  hasMachines: false,
  arrivals: () => [{ path: ['spec'], on: ['its resources of Azure Service Operator'] }],
};
