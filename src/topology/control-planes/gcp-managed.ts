import { objectAt } from '../../kubernetes/index.ts';
import type { KindWithoutMachines } from './kind.ts';
import { isOther, type RefusedChange, refusedChanges } from './refused-changes.ts';

// Facts of kubernetes-sigs/cluster-api-provider-gcp, v1.11 and v1.12: ValidateUpdate of the webhook in
// exp/api/v1beta1/gcpmanagedcontrolplane_webhook.go (v1.11) and exp/webhooks (v1.12), which names fields of Go; and
// checkDiffAndPrepareUpdate in cloud/services/container/clusters/reconcile.go. What GKE itself refuses is not among them.

const group = 'infrastructure.cluster.x-k8s.io';

const inGo = (field: string): string => `spec.${field.charAt(0).toUpperCase()}${field.slice(1)}`;

const fixed = (field: string, more: Partial<RefusedChange> = {}): RefusedChange => ({
  field: `spec.${field}`,
  shown: inGo(field),
  why: 'field is immutable',
  ...more,
});

/** GCPManagedControlPlane. */
export const gcpManaged: KindWithoutMachines = {
  group,
  kind: 'GCPManagedControlPlane',
  hasMachines: false,
  arrivals: () => [{ path: ['spec'], on: ['GKE, as far as the provider updates it there'] }],
  refusal: refusedChanges('vgcpmanagedcontrolplane.kb.io', group, [
    // Removed, the webhook fills in a name.
    fixed('clusterName', { is: isOther }),
    fixed('project'),
    fixed('location'),
    fixed('enableAutopilot', { value: (after) => after === true }),
    ...['loggingService', 'monitoringService'].map((field) =>
      fixed(field, {
        is: (_before, after, { before }) => objectAt(before, 'spec').enableAutopilot === true && after !== undefined,
        why: "can't be set when autopilot is enabled",
      }),
    ),
  ]),
};
