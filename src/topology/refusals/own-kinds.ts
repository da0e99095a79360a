import {
  fieldAt,
  groupOf,
  type JsonObject,
  type LabelSelector,
  objectAt,
  own,
  type StatusCause,
  selectsEverything,
  selectsLabels,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import { forbiddenField, found, invalid, required } from '../../kubernetes/schema/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { controlPlaneOf, controlPlaneSpecCauses, kubeadm, kubeadmConfigCauses } from '../control-planes/index.ts';
import { inV1beta2 } from '../manifests/v1beta1.ts';
import { type Refusal, webhookRefusal } from '../world/refusal.ts';
import {
  healthCheckCauses,
  maxInFlightCauses,
  metadataCausesOf,
  namingCauses,
  rolloutCauses,
  taintCauses,
  versionCauses,
} from './parts.ts';
import { stored } from './stored.ts';

const template = 'spec.template.spec';
const namingWords = {
  unusable: 'invalid template',
  unfit: 'invalid template, generated names would not be valid Kubernetes object names: ',
};

function* configTemplateCauses(object: JsonObject): Generator<StatusCause> {
  yield* kubeadmConfigCauses(objectAt(object, 'spec', 'template', 'spec'), false, template);
  yield* metadataCausesOf(objectAt(object, 'spec', 'template'), 'spec.template');
}

/** Of a new one: of one that exists, nothing may change. */
function* controlPlaneTemplateCauses(object: JsonObject, old: JsonObject | undefined): Generator<StatusCause> {
  if (old !== undefined) {
    return;
  }
  const spec = objectAt(object, 'spec', 'template', 'spec');
  const naming = namingCauses(
    textAt(spec, 'machineNaming', 'template'),
    `${template}.machineNaming.template`,
    { kubeadmControlPlane: { name: 'kubeadmcontrolplane' } },
    namingWords,
  );
  const metadata = metadataCausesOf(objectAt(spec, 'machineTemplate'), `${template}.machineTemplate`);
  yield* controlPlaneSpecCauses(spec, template, [...naming, ...metadata]);
  yield* metadataCausesOf(objectAt(object, 'spec', 'template'), 'spec.template');
}

const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';

function clusterNameCauses(object: JsonObject, old: JsonObject | undefined): StatusCause[] {
  const isOther = old !== undefined && textAt(old, 'spec', 'clusterName') !== textAt(object, 'spec', 'clusterName');
  return found(isOther && forbiddenField('spec.clusterName', 'field is immutable'));
}

function* healthCheckObjectCauses(object: JsonObject, old: JsonObject | undefined): Generator<StatusCause> {
  const selector = objectAt(object, 'spec', 'selector') as LabelSelector;
  const clusterName = textAt(object, 'spec', 'clusterName');
  const named = textAt(selector as JsonObject, 'matchLabels', clusterNameLabel);
  const why = 'cannot specify a cluster selector other than the one specified by ClusterName';
  yield* found(
    selectsEverything(selector) && required('spec.selector', 'selector must not be empty'),
    named !== '' && named !== clusterName && invalid('spec.selector', selector, why),
  );
  yield* clusterNameCauses(object, old);
  yield* healthCheckCauses(objectAt(object, 'spec'), 'spec');
}

/** What MachineDeployments and MachinePools have in common. */
function* machinesCauses(object: JsonObject, old: JsonObject | undefined): Generator<StatusCause> {
  const spec = objectAt(object, 'spec');
  const [clusterName, version] = [textAt(spec, 'clusterName'), textAt(spec, 'template', 'spec', 'version')];
  yield* clusterNameCauses(object, old);
  const isOther = clusterName !== textAt(spec, 'template', 'spec', 'clusterName');
  const why = 'spec.clusterName and spec.template.spec.clusterName must be set to the same value';
  yield* found(isOther && invalid('spec.clusterName', clusterName, why));
  if (version !== '') {
    yield* versionCauses(version, 'spec.template.spec.version', 'must be a valid semantic version');
  }
  yield* metadataCausesOf(objectAt(spec, 'template'), 'spec.template');
}

function* machineDeploymentCauses(object: JsonObject, old: JsonObject | undefined): Generator<StatusCause> {
  const spec = objectAt(object, 'spec');
  const labels = textValues(objectAt(spec, 'template', 'metadata', 'labels'));
  const isSelected = selectsLabels(objectAt(spec, 'selector') as LabelSelector, labels);
  yield* found(!isSelected && forbiddenField('spec.template.metadata.labels', 'must match spec.selector'));
  yield* rolloutCauses(spec, 'spec');
  yield* maxInFlightCauses(spec, 'spec');
  const naming = textAt(spec, 'machineNaming', 'template');
  const isFixed = naming !== '' && !naming.includes('{{ .random }}');
  const missing = 'invalid template, {{ .random }} is missing';
  yield* found(isFixed && invalid('spec.machineNaming.template', naming, missing));
  yield* namingCauses(naming, 'spec.machineNaming.template', { machineSet: { name: 'machineset' } }, namingWords);
  yield* taintCauses(fieldAt(spec, 'template', 'spec', 'taints'), 'spec.template.spec.taints');
  yield* machinesCauses(object, old);
}

type Causes = (object: JsonObject, old: JsonObject | undefined) => Iterable<StatusCause>;

const kinds: Readonly<Record<string, Causes>> = {
  'bootstrap.cluster.x-k8s.io KubeadmConfig': (object) => kubeadmConfigCauses(objectAt(object, 'spec'), false, 'spec'),
  'bootstrap.cluster.x-k8s.io KubeadmConfigTemplate': configTemplateCauses,
  'controlplane.cluster.x-k8s.io KubeadmControlPlaneTemplate': controlPlaneTemplateCauses,
  [`${coreGroup} MachineDeployment`]: machineDeploymentCauses,
  [`${coreGroup} MachineHealthCheck`]: healthCheckObjectCauses,
  [`${coreGroup} MachinePool`]: machinesCauses,
};

/** Of an update of a control plane, its kind knows more (`refusal`). */
const ofControlPlane: Causes = (object, old) =>
  (old === undefined ? controlPlaneOf(object)?.creationCauses?.(object) : undefined) ?? [];

/**
 * Why webhooks of Cluster API refuse an object of its kinds besides Clusters and classes, in v1beta2 or converted to it (v1.14);
 * undefined if they take it, or if nothing is known of its kind. Updates of control planes are not judged here.
 */
export function ownKindRefusal(given: JsonObject, before: JsonObject | undefined): Refusal | undefined {
  const old = before && inV1beta2(before);
  // The webhook for defaults comes before the one that refuses.
  const object = stored(inV1beta2(given), () => undefined, old);
  const causesOf = own(kinds, `${groupOf(object)} ${textAt(object, 'kind')}`) ?? ofControlPlane;
  if (!textAt(object, 'apiVersion').endsWith('/v1beta2')) {
    return undefined;
  }
  // Those of control planes write another group.
  const group = groupOf(object) === kubeadm.group ? coreGroup : undefined;
  return webhookRefusal(object, 'validation', [...causesOf(object, old)], group);
}
