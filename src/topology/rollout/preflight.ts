import { type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import { newestKnownRelease, parseVersion, type Release } from '../../runtimehooks/index.ts';
import type { GroupChange, GroupObjects } from '../world/groups.ts';
import type { GroupPlan } from '../world/plan-document.ts';
import { has } from '../world/releases.ts';
import { machinesText } from './explanations.ts';
import { fencepostsOf, replicasOf } from './machines.ts';

const skipAnnotation = 'machineset.cluster.x-k8s.io/skip-preflight-checks';

/** The checks that an annotation of a MachineDeployment, or of its bootstrap template, skips. */
function skippedChecks({ object, bootstrap }: GroupObjects, release: Release): ReadonlySet<string> {
  const skip = (of: JsonObject | undefined) => textAt(of, 'metadata', 'annotations', skipAnnotation);
  const names = skip(object) || (has(release, 'skipAtTemplate') ? skip(bootstrap) : '');
  return new Set(names.split(',').map((name) => name.trim()));
}

/** Kubernetes supports kubelets that are so many minors older than the API server. */
const minorSkew = 3;

const versionIn = (version: string) => {
  const parsed = parseVersion(version.startsWith('v') ? version : `v${version}`);
  return parsed && { minor: parsed.numbers[1], text: parsed.text.slice(1) };
};

/**
 * Why a MachineSet of a MachineDeployment makes no Machines as long as the version of the control plane stays, in Cluster
 * API's words (runPreflightChecks in core/reconcilers/machineset, v1.14); empty if it makes them. That a control plane is
 * provisioning or upgrading delays them only.
 */
export function preflightFailures(
  { cluster, controlPlane }: Pick<GroupChange, 'cluster' | 'controlPlane'>,
  after: GroupObjects,
  release: Release = newestKnownRelease,
): string[] {
  const spec = objectAt(after.object, 'spec', 'template', 'spec');
  const [ofPlane, ofSet] = [textAt(controlPlane, 'spec', 'version'), textAt(spec, 'version')];
  const [plane, set] = [versionIn(ofPlane), versionIn(ofSet)];
  if (plane === undefined || set === undefined) {
    return [];
  }
  const reference = objectAt(spec, 'bootstrap', 'configRef');
  const isKubeadm =
    reference.kind === 'KubeadmConfigTemplate' && textAt(reference, 'apiGroup') === 'bootstrap.cluster.x-k8s.io';
  const versions = `MachineSet version (${set.text}) and ControlPlane version (${plane.text}) do not conform to`;
  const kubernetes = `${versions} the kubernetes version skew policy as MachineSet version is`;
  const failures: [check: string, text: string, fails: boolean][] = [
    ['KubernetesVersionSkew', `${kubernetes} higher than ControlPlane version`, set.minor > plane.minor],
    [
      'KubernetesVersionSkew',
      `${kubernetes} more than ${minorSkew} minor versions older than the ControlPlane version`,
      set.minor < plane.minor - minorSkew,
    ],
    [
      'KubeadmVersionSkew',
      `${versions} kubeadm version skew policy as kubeadm only supports joining with the same major+minor version as the control plane`,
      isKubeadm && set.minor !== plane.minor,
    ],
    [
      'ControlPlaneVersionSkew',
      `MachineSet version (${ofSet}) is not yet the same as the ControlPlane version (${ofPlane}), waiting for version to be propagated to the MachineSet`,
      Object.keys(objectAt(cluster, 'spec', 'topology')).length > 0 && ofSet !== ofPlane,
    ],
  ];
  const skipped = skippedChecks(after, release);
  return skipped.has('All')
    ? []
    : failures
        .filter(([check, , fails]) => fails && !skipped.has(check))
        .map(([check, text]) => `${text} ("${check}" preflight check failed)`);
}

/**
 * The plan of a MachineDeployment whose MachineSets make no Machines: old ones go as far as maxUnavailable allows, and no
 * new one comes.
 */
export function whileBlocked(plan: GroupPlan, { object }: GroupObjects, failures: readonly string[]): GroupPlan {
  const { verdict, machines, replaces, manner = [], ...rest } = plan;
  const { before, after } = machines;
  if (failures.length === 0 || (machines.replaced === 0 && after <= before)) {
    return plan;
  }
  const { maxUnavailable } = fencepostsOf(object);
  const left = machines.replaced === 0 ? before : Math.min(before, Math.max(0, replicasOf(object) - maxUnavailable));
  const gone = before - left;
  const loss = gone > Math.max(0, before - after) ? `${machinesText(gone)} deleted, up to maxUnavailable, and ` : '';
  return {
    ...rest,
    verdict: verdict === 'created' ? 'created' : gone > 0 ? 'scaled' : 'unchanged',
    machines: { before, after: left, replaced: 0, inPlace: 0 },
    held: { is: 'blocked', verdict, machines, ...(replaces && { replaces }) },
    manner: [
      `${loss}no Machine is made: Scale up on hold because ${failures.join('; ')} (unless the feature gate MachineSetPreflightChecks is off)`,
      ...manner,
    ],
  };
}
