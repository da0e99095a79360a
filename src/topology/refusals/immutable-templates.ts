import {
  groupOf,
  isSame,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  objectText,
  own,
  textAt,
} from '../../kubernetes/index.ts';
import { kubeadmDefaults } from '../control-planes/index.ts';
import { withoutEmpty } from '../world/without-empty.ts';

const isFixed = (kind: string, resource = 'a new resource'): string =>
  `spec.template.spec: Invalid value: ${kind} spec.template.spec field is immutable. Please create ${resource} instead.`;

const infrastructure = 'infrastructure.cluster.x-k8s.io';
const ofClusterApi = ['DockerClusterTemplate', 'DockerMachineTemplate', 'DevClusterTemplate', 'DevMachineTemplate'];

/**
 * Templates whose webhooks refuse changes of `spec.template.spec`, and their words: those of Cluster API, and of the providers
 * for AWS (v2.10, v2.11), Azure (v1.25, v1.26), GCP (v1.11, v1.12), OpenStack (v0.14), vSphere (v1.17) and Talos (v0.6), ValidateUpdate of each.
 * Those of OCI and Metal3 take them.
 */
const immutable: Readonly<Record<string, string>> = {
  'controlplane.cluster.x-k8s.io KubeadmControlPlaneTemplate': isFixed('KubeadmControlPlaneTemplate', 'new resource'),
  ...Object.fromEntries(
    [...ofClusterApi, 'OpenStackMachineTemplate', 'VSphereMachineTemplate'].map((kind) => [
      `${infrastructure} ${kind}`,
      isFixed(kind),
    ]),
  ),
  [`vmware.${infrastructure} VSphereMachineTemplate`]: isFixed('VSphereMachineTemplate'),
  ...Object.fromEntries(
    ['AzureClusterTemplate', 'AzureMachineTemplate', 'OpenStackClusterTemplate'].map((kind) => [
      `${infrastructure} ${kind}`,
      `${kind}.${isFixed(kind, 'new resource')}`,
    ]),
  ),
  ...Object.fromEntries(
    ['AWSClusterTemplate', 'GCPClusterTemplate'].map((kind) => [
      `${infrastructure} ${kind}`,
      `${kind}.Spec is immutable`,
    ]),
  ),
  [`${infrastructure} AWSMachineTemplate`]: 'spec.template.spec: Invalid value: AWSMachineTemplate.Spec is immutable',
  [`${infrastructure} GCPMachineTemplate`]: 'spec: Forbidden: cannot be modified',
  [`${infrastructure} VSphereClusterTemplate`]:
    'spec.template.spec: Forbidden: VSphereClusterTemplate spec is immutable',
  'bootstrap.cluster.x-k8s.io TalosConfigTemplate': 'TalosConfigTemplate.Spec is immutable',
};

/** Fields that webhooks fill in, and that are not compared with a template that has none. */
const filledIn = ['sshPublicKey', 'instanceMetadataOptions'];

/** A template as its webhook compares it. */
function comparedTemplate(template: JsonObject, old: JsonObject): Json {
  const spec = objectAt(template, 'spec', 'template', 'spec');
  if (template.kind === 'KubeadmControlPlaneTemplate') {
    return { ...spec, kubeadmConfigSpec: kubeadmDefaults(objectAt(spec, 'kubeadmConfigSpec')) };
  }
  if (ofClusterApi.includes(textAt(template, 'kind'))) {
    // Their backends are pointers: an empty one is not none.
    return spec;
  }
  const before = objectAt(old, 'spec', 'template', 'spec');
  const fields = Object.entries(spec).filter(([name]) => !filledIn.includes(name) || Object.hasOwn(before, name));
  const compared = Object.fromEntries(fields);
  if (template.kind === 'OpenStackMachineTemplate' && Array.isArray(spec.ports)) {
    compared.ports = objectsAt(spec, 'ports').map(({ allowedAddressPairs: _, ...port }) => port);
  }
  return withoutEmpty(compared);
}

/** Why the webhook of a template's kind refuses a change of it, in its words; undefined if it takes it, or is not known. */
export function templateRefusal(old: JsonObject, now: JsonObject): string | undefined {
  const kind = textAt(now, 'kind');
  const words = own(immutable, `${groupOf(now)} ${kind}`);
  if (words === undefined || old.apiVersion !== now.apiVersion) {
    return undefined;
  }
  const who = ofClusterApi.includes(kind) || kind.startsWith('Kubeadm') ? 'Cluster API' : 'the webhook of its provider';
  return isSame(comparedTemplate(old, old), comparedTemplate(now, old))
    ? undefined
    : `${who} refuses ${objectText(now)}: ${words}`;
}
