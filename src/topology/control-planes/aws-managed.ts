import { type Json, nameOf, namespaceOf } from '../../kubernetes/index.ts';
import { parseVersion } from '../../runtimehooks/index.ts';
import type { KindWithoutMachines } from './kind.ts';
import { isOther, isRemoved, refusedChanges, withDefault } from './refused-changes.ts';

// Facts of kubernetes-sigs/cluster-api-provider-aws, v2.10 and v2.11: ValidateUpdate in
// controlplane/eks/api/v1beta2/awsmanagedcontrolplane_webhook.go (v2.10) and controlplane/eks/webhooks (v2.11). What the webhook
// does not take of any object, whatever it was before, is not among them, nor what EKS itself refuses.

/** Whether a version is below another one, as the webhook compares them: the minor alone, too. */
function isLower(before: Json | undefined, after: Json | undefined): boolean {
  const [old, wanted] = [before, after].map((version) => parseVersion(String(version))?.numbers);
  return old !== undefined && wanted !== undefined && (wanted[0] < old[0] || wanted[1] < old[1]);
}

const isLowerMode = (before: Json | undefined, after: Json | undefined): boolean =>
  (before === 'api' && after !== undefined) || (before === 'api_and_config_map' && after === 'config_map');

export const awsManaged: KindWithoutMachines = {
  group: 'controlplane.cluster.x-k8s.io',
  kind: 'AWSManagedControlPlane',
  hasMachines: false,
  arrivals: () => [{ path: ['spec'], on: ['EKS, as far as the provider updates it there'] }],
  refusal: refusedChanges('validation.awsmanagedcontrolplanes.controlplane.cluster.x-k8s.io', [
    {
      field: 'spec.eksClusterName',
      ...withDefault((object) => `${namespaceOf(object)}_${nameOf(object).replaceAll('.', '_')}`),
      why: 'eksClusterName is different to current cluster name',
    },
    { field: 'spec.version', is: isLower, why: 'new version less than old version' },
    {
      field: 'spec.accessConfig',
      is: isRemoved,
      why: 'removing AccessConfig is not allowed after it has been enabled',
    },
    {
      field: 'spec.accessConfig.authenticationMode',
      is: isLowerMode,
      why: 'downgrading authentication mode is not allowed after it has been enabled',
    },
    { field: 'spec.region', why: 'field is immutable' },
    {
      field: 'spec.encryptionConfig',
      is: isRemoved,
      why: 'disabling EKS encryption is not allowed after it has been enabled',
    },
    {
      field: 'spec.encryptionConfig.provider',
      is: isOther,
      why: 'changing EKS encryption is not allowed after it has been enabled',
    },
    {
      field: 'spec.network.vpc.ipv6',
      is: (before, after) => (before === undefined) !== (after === undefined),
      shown: 'spec.network.vpc.enableIPv6',
      value: (after) => after !== undefined,
      why: 'changing IP family is not allowed after it has been set',
    },
  ]),
};
