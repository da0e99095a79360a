import { objectAt } from '../../kubernetes/index.ts';
import type { KindWithoutMachines } from './kind.ts';
import { isOther, refusedChanges } from './refused-changes.ts';

// Facts of kubernetes-sigs/cluster-api-provider-aws, v2.10 and v2.11: the rules of the schema in
// controlplane/rosa/api/v1beta2/rosacontrolplane_types.go. Its webhook compares nothing with what was before.

/** The fields that stay as they were set; `fips` and `trustPolicyExternalID` since v2.11. */
const fixedFields = [
  ...['rosaClusterName', 'domainPrefix', 'fips', 'oidcID', 'enableExternalAuthProviders', 'billingAccount'],
  ...['provisionShardID', 'trustPolicyExternalID'],
];

export const rosa: KindWithoutMachines = {
  group: 'controlplane.cluster.x-k8s.io',
  kind: 'ROSAControlPlane',
  hasMachines: false,
  arrivals: () => [{ path: ['spec'], on: ['ROSA, as far as the provider updates it there'] }],
  fillDefaults({ spec }) {
    Object.assign(objectAt(spec), { fips: 'Disabled', enableExternalAuthProviders: false, ...objectAt(spec) });
  },
  refusal: refusedChanges(
    undefined,
    fixedFields.map((field) => ({ field: `spec.${field}`, is: isOther, why: `${field} is immutable` })),
  ),
};
