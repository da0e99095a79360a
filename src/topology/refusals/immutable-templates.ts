import {
  groupOf,
  isSame,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  objectText,
  textAt,
} from '../../kubernetes/index.ts';
import { kubeadmDefaults } from '../control-planes/index.ts';
import { withoutEmpty } from '../world/without-empty.ts';

const infrastructure = 'infrastructure.cluster.x-k8s.io';
const ofClusterApi = ['DockerClusterTemplate', 'DockerMachineTemplate', 'DevClusterTemplate', 'DevMachineTemplate'];
const ofProviders = [
  ...['AWSClusterTemplate', 'AWSMachineTemplate', 'AzureClusterTemplate', 'AzureMachineTemplate', 'GCPClusterTemplate'],
  ...['GCPMachineTemplate', 'OpenStackClusterTemplate', 'OpenStackMachineTemplate', 'VSphereClusterTemplate'],
  'VSphereMachineTemplate',
];

/**
 * Templates whose webhooks refuse changes of `spec.template.spec` (ValidateUpdate): of Cluster API, AWS (v2.10, v2.11), Azure
 * (v1.25, v1.26), GCP (v1.11, v1.12), OpenStack (v0.14), vSphere (v1.17) and Talos (v0.6). Those of OCI and Metal3 take them.
 */
const immutable: ReadonlySet<string> = new Set([
  'controlplane.cluster.x-k8s.io KubeadmControlPlaneTemplate',
  'bootstrap.cluster.x-k8s.io TalosConfigTemplate',
  `vmware.${infrastructure} VSphereMachineTemplate`,
  ...[...ofClusterApi, ...ofProviders].map((kind) => `${infrastructure} ${kind}`),
]);

/** Fields that webhooks fill in, and that are not compared with a template that has none. */
const filledIn = ['sshPublicKey', 'instanceMetadataOptions'];

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

/** Why the webhook of a template's kind refuses a change of it; undefined if it takes it, or is not known. */
export function templateRefusal(old: JsonObject, now: JsonObject): string | undefined {
  const kind = textAt(now, 'kind');
  const isJudged = immutable.has(`${groupOf(now)} ${kind}`) && old.apiVersion === now.apiVersion;
  if (!isJudged || isSame(comparedTemplate(old, old), comparedTemplate(now, old))) {
    return undefined;
  }
  const resource = kind.startsWith('Kubeadm') ? 'new resource' : ofClusterApi.includes(kind) && 'a new resource';
  return resource === false
    ? `the webhook of its provider refuses ${objectText(now)}: its spec.template.spec cannot change; create another template`
    : `Cluster API refuses ${objectText(now)}: spec.template.spec: Invalid value: ${kind} spec.template.spec field is immutable. Please create ${resource} instead.`;
}
