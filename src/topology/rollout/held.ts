import { isPaused, pausedAnnotation } from '../../extensionconfig/index.ts';
import { fieldAt, type JsonObject, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import { newestKnownRelease, parseVersion, type Release } from '../../runtimehooks/index.ts';
import type { GroupChange, GroupObjects, PlanOptions } from '../world/groups.ts';
import type { GroupPlan, Verdict } from '../world/plan-document.ts';
import { has } from '../world/releases.ts';
import { machinesText } from './explanations.ts';
import { fencepostsOf, replicasOf } from './machines.ts';

/** The plan of a group while something holds it back: with `after` Machines, and its verdict later. */
function whileHeld(
  { verdict, machines, replaces, manner = [], ...rest }: GroupPlan,
  is: 'paused' | 'blocked',
  now: { verdict: Verdict; after: number; text: string },
): GroupPlan {
  return {
    ...rest,
    verdict: now.verdict,
    machines: { before: machines.before, after: now.after, replaced: 0, inPlace: 0 },
    held: { is, verdict, machines, ...(replaces && { replaces }) },
    manner: [now.text, ...manner],
  };
}

/** The paused object (util/paused, v1.14). With the annotation at a Cluster, only its topology waits. */
function pausing({ cluster, before, after }: GroupChange): JsonObject | undefined {
  const group = (after ?? before)?.object;
  const ofCluster =
    fieldAt(cluster, 'spec', 'topology') === undefined
      ? fieldAt(cluster, 'spec', 'paused') === true
      : isPaused(cluster);
  return ofCluster
    ? cluster
    : fieldAt(group, 'metadata', 'annotations', pausedAnnotation) === undefined
      ? undefined
      : group;
}

/** The plan of a group of which nothing happens before an object is resumed. */
function whilePaused(plan: GroupPlan, object: JsonObject): GroupPlan {
  const { verdict, problems = [], manner = [], machines } = plan;
  const text = `nothing happens as long as ${objectText(object)} is paused`;
  if (verdict === 'unchanged') {
    const still = { ...machines, after: machines.before };
    return problems.length === 0 ? plan : { ...plan, machines: still, manner: [text, ...manner] };
  }
  return whileHeld(plan, 'paused', { verdict: 'unchanged', after: machines.before, text });
}

function withoutRollout(plan: GroupPlan, object: JsonObject): GroupPlan {
  const { before, after, replaced, inPlace } = plan.machines;
  const text = `no Machine is replaced as long as ${objectText(object)} is paused`;
  return replaced + inPlace === 0 && plan.verdict !== 'onDelete'
    ? plan
    : whileHeld(plan, 'paused', { verdict: before === after ? 'unchanged' : 'scaled', after, text });
}

const skipAnnotation = 'machineset.cluster.x-k8s.io/skip-preflight-checks';

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

/** runPreflightChecks in core/reconcilers/machineset, v1.14. That a control plane is provisioning or upgrading only delays. */
function preflightFailures(
  { cluster, controlPlane }: GroupChange,
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

/** That of a MachineDeployment whose MachineSets make no Machines: old ones go as far as maxUnavailable allows. */
function whileBlocked(plan: GroupPlan, { object }: GroupObjects, failures: readonly string[]): GroupPlan {
  const { before, after, replaced } = plan.machines;
  if (failures.length === 0 || (replaced === 0 && after <= before)) {
    return plan;
  }
  const { maxUnavailable } = fencepostsOf(object);
  const left = replaced === 0 ? before : Math.min(before, Math.max(0, replicasOf(object) - maxUnavailable));
  const gone = before - left;
  const loss = gone > Math.max(0, before - after) ? `${machinesText(gone)} deleted, up to maxUnavailable, and ` : '';
  return whileHeld(plan, 'blocked', {
    verdict: plan.verdict === 'created' ? 'created' : gone > 0 ? 'scaled' : 'unchanged',
    after: left,
    text: `${loss}no Machine is made: Scale up on hold because ${failures.join('; ')} (unless the feature gate MachineSetPreflightChecks is off)`,
  });
}

/** The plan of a group as far as nothing holds it back: a pause, or the preflight checks of MachineSets. */
export async function asHeld(
  change: GroupChange,
  options: PlanOptions,
  judged: (options: PlanOptions) => Promise<GroupPlan>,
): Promise<GroupPlan> {
  const { after, kind } = change;
  const paused = pausing(change);
  if (paused !== undefined) {
    return whilePaused(await judged({ ...options, follow: undefined }), paused);
  }
  if (after === undefined || kind !== 'MachineDeployment') {
    return judged(options);
  }
  return fieldAt(after.object, 'spec', 'paused') === true
    ? withoutRollout(await judged({ ...options, follow: undefined }), after.object)
    : whileBlocked(await judged(options), after, preflightFailures(change, after, options.clusterApiVersion));
}
