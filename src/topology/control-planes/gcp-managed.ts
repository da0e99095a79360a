import { nameOf, namespaceOf, objectAt, textAt } from '../../kubernetes/index.ts';
import type { KindWithoutMachines } from './kind.ts';
import { type RefusedChange, refusedChanges, withDefault } from './refused-changes.ts';

// Facts of kubernetes-sigs/cluster-api-provider-gcp, v1.11 and v1.12: ValidateUpdate of the webhook in
// exp/api/v1beta1/gcpmanagedcontrolplane_webhook.go (v1.11) and exp/webhooks (v1.12), which names fields of Go; and
// checkDiffAndPrepareUpdate in cloud/services/container/clusters/reconcile.go. What GKE itself refuses is not among them.

const inGo = (field: string): string => `spec.${field.charAt(0).toUpperCase()}${field.slice(1)}`;

const fixed = (field: string, more: Partial<RefusedChange> = {}): RefusedChange => ({
  field: `spec.${field}`,
  shown: inGo(field),
  why: 'field is immutable',
  ...more,
});

export const gcpManaged: KindWithoutMachines = {
  group: 'infrastructure.cluster.x-k8s.io',
  kind: 'GCPManagedControlPlane',
  hasMachines: false,
  arrivals: () => [{ path: ['spec'], on: ['GKE, as far as the provider updates it there'] }],
  refusal: refusedChanges('vgcpmanagedcontrolplane.kb.io', [
    fixed(
      'clusterName',
      withDefault((object) => `${namespaceOf(object)}-${nameOf(object).replaceAll('.', '-')}`),
    ),
    fixed('project'),
    fixed('location'),
    fixed('enableAutopilot', { value: (after) => after === true }),
    ...['loggingService', 'monitoringService'].map((field) =>
      fixed(field, {
        is: (_before, after, { before }) => objectAt(before, 'spec').enableAutopilot === true && after !== undefined,
        why: "can't be set when autopilot is enabled",
      }),
    ),
    fixed('controlPlaneVersion', {
      is: (_before, after, { before }) => after !== undefined && textAt(before, 'spec', 'version') !== '',
      value: () => null,
      why: 'spec.ControlPlaneVersion and spec.Version cannot be set at the same time: please use spec.Version',
    }),
  ]),
};
