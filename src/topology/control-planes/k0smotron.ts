import { type JsonObject, textAt } from '../../kubernetes/index.ts';
import { parseVersion } from '../../runtimehooks/index.ts';
import { denial } from '../world/refusal.ts';
import type { KindWithoutMachines } from './kind.ts';

// Facts of k0sproject/k0smotron, v2.0 and v2.1: internal/controller/controlplane/k0smotron_controlplane_controller.go makes a
// StatefulSet of the spec; ValidateUpdate in api/controlplane/v1beta2/k0smotron_controlplane_webhook.go, and
// ValidateClusterSpecUpdate in api/k0smotron.io/v1beta2/k0smotroncluster_webhook.go.

function problemOf({ spec: before }: JsonObject, { spec: after }: JsonObject, isStep: boolean): string | undefined {
  const [from, to] = [before, after].map((spec) => textAt(spec, 'version'));
  if (from !== to && (from === '' || to === '')) {
    return undefined;
  }
  const [oldMinor, newMinor] = [from, to].map((version) => Number(parseVersion(version ?? '')?.numbers[1]));
  if (isStep && Number(newMinor) - Number(oldMinor) > 1) {
    return 'upgrading more than one minor version at a time is not allowed by the Kubernetes skew policy';
  }
  const [old, wanted] = [before, after].map((spec) => Number((spec as JsonObject | undefined)?.replicas ?? 1));
  return textAt(after, 'storage', 'type') === 'nats' && old !== wanted
    ? `NATS storage does not support scaling, replicas cannot be changed from ${old} to ${wanted}. Please back up your data, update NATS cluster configuration, and recreate your cluster`
    : undefined;
}

export const k0smotron: KindWithoutMachines = {
  group: 'controlplane.cluster.x-k8s.io',
  kind: 'K0smotronControlPlane',
  hasMachines: false,
  arrivals: () => [{ path: ['spec'], on: ['its Pods in the management cluster'] }],
  refusal(before, after, isStep) {
    const problem = problemOf(before, after, isStep);
    return problem && denial('validate-k0smotroncontrolplane-v1beta2.k0smotron.io', problem);
  },
};
