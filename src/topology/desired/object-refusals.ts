import {
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  type LabelSelector,
  objectAt,
  selectsLabels,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';
import { groupOf, nameOf } from '../world/objects.ts';
import { withoutEmpty } from '../world/without-empty.ts';
import { minorOf } from './upgrade-steps.ts';

const below = (path: string, fields: string): string[] => fields.split(' ').map((field) => `${path}${field}.`);
const config = 'kubeadmConfigSpec.';
const nodeFields = 'nodeRegistration patches skipPhases timeouts';

/** The paths below `spec` that may change, with all below them, as texts that end with a dot. */
const changeable: readonly string[] = [
  ...below('', 'machineTemplate.metadata machineTemplate.spec replicas version remediation machineNaming rollout'),
  ...below(config, 'bootCommands preKubeadmCommands postKubeadmCommands files verbosity users ntp ignition'),
  ...below(config, 'diskSetup format mounts'),
  ...below(`${config}clusterConfiguration.`, 'etcd dns imageRepository featureGates apiServer controllerManager'),
  ...below(`${config}clusterConfiguration.`, 'scheduler certificateValidityPeriodDays encryptionAlgorithm'),
  ...below(`${config}initConfiguration.`, `${nodeFields} bootstrapTokens localAPIEndpoint`),
  ...below(`${config}joinConfiguration.`, `${nodeFields} caCertPath controlPlane discovery`),
];

/** The paths of changes as a merge patch has them: the innermost objects, and what is removed as a whole. */
function changedPaths(before: Json | undefined, after: Json | undefined, path: string): string[] {
  if (!isJsonObject(after)) {
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
  }
  const old = objectAt(before);
  const names = new Set([...Object.keys(old), ...Object.keys(after)]);
  return [...names].flatMap((name) => changedPaths(old[name], after[name], path === '' ? name : `${path}.${name}`));
}

const isForbidden = (field: string, why: string): string => `spec.${field}: Forbidden: ${why}`;

function specProblems(spec: JsonObject): string[] {
  const replicas = typeof spec.replicas === 'number' ? spec.replicas : Number.NaN;
  const hasExternalEtcd = fieldAt(spec, 'kubeadmConfigSpec', 'clusterConfiguration', 'etcd', 'external') !== undefined;
  const maxSurge = fieldAt(spec, 'rollout', 'strategy', 'rollingUpdate', 'maxSurge') ?? 1;
  const surge = Number(maxSurge);
  const naming = textAt(spec, 'machineNaming', 'template');
  const problems: [isWrong: boolean, problem: string][] = [
    [replicas <= 0, isForbidden('replicas', 'cannot be less than or equal to 0')],
    [replicas % 2 === 0 && !hasExternalEtcd, isForbidden('replicas', 'cannot be an even number when etcd is stacked')],
    [
      surge === 0 && replicas < 3,
      'spec.rollout.strategy.rollingUpdate: Required value: when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3',
    ],
    [surge !== 0 && surge !== 1, 'spec.rollout.strategy.rollingUpdate.maxSurge: Required value: value must be 1 or 0'],
    [
      naming !== '' && !naming.includes('{{ .random }}'),
      `spec.machineNaming.template: Invalid value: ${JSON.stringify(naming)}: invalid template, {{ .random }} is missing`,
    ],
  ];
  return problems.flatMap(([isWrong, problem]) => (isWrong ? [problem] : []));
}

function updateProblems(before: JsonObject, after: JsonObject, isStep: boolean): string[] {
  const isChangeable = (path: string) => changeable.some((start) => `${path}.`.startsWith(start));
  const external = (spec: JsonObject) =>
    fieldAt(spec, 'kubeadmConfigSpec', 'clusterConfiguration', 'etcd', 'external') !== undefined;
  const [from, to] = [textAt(before, 'version'), textAt(after, 'version')];
  const [fromMinor, toMinor] = [minorOf(from), minorOf(to)];
  return [
    ...changedPaths(before, after, '')
      .filter((path) => !isChangeable(path))
      .sort()
      .map((path) => isForbidden(path, 'cannot be modified')),
    ...(isStep && toMinor > fromMinor + 1
      ? [isForbidden('version', `cannot update Kubernetes version from ${from} to ${to}`)]
      : []),
    ...(external(before) === external(after)
      ? []
      : [
          isForbidden(
            'kubeadmConfigSpec.clusterConfiguration.etcd.external',
            'cannot change between external and local etcd',
          ),
        ]),
  ];
}

/**
 * Why the webhook of KubeadmControlPlane does not take an update, in its words; undefined if it does, as far as that is
 * known here (controlplane/kubeadm/webhooks/admission/kubeadmcontrolplane.go, v1.14).
 *
 * @param isStep whether it is one update, and not the sum of the steps of an upgrade.
 */
export function controlPlaneRefusal(before: JsonObject, after: JsonObject, isStep: boolean): string | undefined {
  const [old, wanted] = [before, after].map((object) => withoutEmpty(objectAt(object, 'spec')) as JsonObject);
  if (textAt(after, 'kind') !== 'KubeadmControlPlane' || old === undefined || wanted === undefined) {
    return undefined;
  }
  // What was stored before a rule existed does not stop other changes here: only what the change brings is said.
  const known = new Set(specProblems(old));
  const problems = [
    ...specProblems(wanted).filter((problem) => !known.has(problem)),
    ...updateProblems(old, wanted, isStep),
  ];
  return refusalOf(after, problems);
}

/**
 * Why the webhook of MachineDeployment does not take an update, in its words; undefined if it does, as far as that is
 * known here (core/webhooks/admission/machinedeployment.go, v1.14).
 */
export function machineDeploymentRefusal(before: JsonObject, after: JsonObject): string | undefined {
  if (textAt(after, 'kind') !== 'MachineDeployment') {
    return undefined;
  }
  const clusterName = textAt(after, 'spec', 'clusterName');
  const selector = objectAt(after, 'spec', 'selector') as LabelSelector;
  const problems = [
    ...(selectsLabels(selector, textValues(objectAt(after, 'spec', 'template', 'metadata', 'labels')))
      ? []
      : ['spec.template.metadata.labels: Forbidden: must match spec.selector']),
    ...(textAt(before, 'spec', 'clusterName') === clusterName
      ? []
      : ['spec.clusterName: Forbidden: field is immutable']),
    ...(textAt(after, 'spec', 'template', 'spec', 'clusterName') === clusterName
      ? []
      : [
          `spec.clusterName: Invalid value: ${JSON.stringify(clusterName)}: spec.clusterName and spec.template.spec.clusterName must be set to the same value`,
        ]),
  ];
  return refusalOf(after, problems);
}

/** The refusal of an object by the webhook of its kind, with all reasons; undefined without any. */
function refusalOf(object: JsonObject, problems: readonly string[]): string | undefined {
  const [group, kind] = [groupOf(object), textAt(object, 'kind')];
  return problems.length === 0
    ? undefined
    : `admission webhook "validation.${kind.toLowerCase()}.${group}" denied the request: ${kind}.cluster.x-k8s.io ${JSON.stringify(nameOf(object))} is invalid: ${aggregate(problems)}`;
}
