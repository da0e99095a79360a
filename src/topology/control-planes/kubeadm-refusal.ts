import {
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { forbiddenField, invalid, required } from '../../kubernetes/schema/index.ts';
import { coreGroup, parseVersion } from '../../runtimehooks/index.ts';
import { denial, invalidText, webhookOf } from '../world/webhook-refusal.ts';
import { withoutEmpty } from '../world/without-empty.ts';
import { certificateCauses, clusterConfigurationCauses, kubeadmConfigCauses } from './kubeadm-config-causes.ts';

const minorOf = (version: string): number => parseVersion(version)?.numbers[1] ?? 0;

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

/** The refusals of KubeadmControlPlane's webhook, whatever was before (validateKubeadmControlPlaneSpec, and what it calls). */
export function* controlPlaneCauses(controlPlane: JsonObject): Generator<StatusCause> {
  const spec = withoutEmpty(objectAt(controlPlane, 'spec')) as JsonObject;
  const replicas = typeof spec.replicas === 'number' ? spec.replicas : Number.NaN;
  const hasExternalEtcd = fieldAt(spec, 'kubeadmConfigSpec', 'clusterConfiguration', 'etcd', 'external') !== undefined;
  if (replicas <= 0) {
    yield forbiddenField('spec.replicas', 'cannot be less than or equal to 0');
  }
  if (replicas % 2 === 0 && !hasExternalEtcd) {
    yield forbiddenField('spec.replicas', 'cannot be an even number when etcd is stacked');
  }
  const surge = Number(fieldAt(spec, 'rollout', 'strategy', 'rollingUpdate', 'maxSurge') ?? 1);
  const rollingUpdate = 'spec.rollout.strategy.rollingUpdate';
  if (surge === 0 && replicas < 3) {
    const why = 'when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3';
    yield required(rollingUpdate, why);
  }
  if (surge !== 0 && surge !== 1) {
    yield required(`${rollingUpdate}.maxSurge`, 'value must be 1 or 0');
  }
  yield* certificateCauses(spec, 'spec');
  const naming = textAt(spec, 'machineNaming', 'template');
  if (naming !== '' && !naming.includes('{{ .random }}')) {
    yield invalid('spec.machineNaming.template', naming, 'invalid template, {{ .random }} is missing');
  }
  const path = 'spec.kubeadmConfigSpec';
  const config = objectAt(spec, 'kubeadmConfigSpec');
  yield* clusterConfigurationCauses(objectAt(config, 'clusterConfiguration'), `${path}.clusterConfiguration`);
  yield* kubeadmConfigCauses(config, true, path);
}

const problemsOf = (controlPlane: JsonObject): string[] =>
  controlPlaneCauses(controlPlane)
    .map(({ field, message }) => `${field}: ${message}`)
    .toArray();

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
  if (old === undefined || wanted === undefined) {
    return undefined;
  }
  // Problems that were stored before a rule existed do not stop other changes here: only those that the change brings are reported.
  const known = new Set(problemsOf(before));
  const problems = [
    ...problemsOf(after).filter((problem) => !known.has(problem)),
    ...updateProblems(old, wanted, isStep),
  ];
  return problems.length === 0
    ? undefined
    : denial(webhookOf(after, 'validation'), invalidText(after, problems, coreGroup));
}
