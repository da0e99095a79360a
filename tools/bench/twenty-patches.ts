import { type JsonObject, objectsAt, textAt } from '../../src/kubernetes/index.ts';

const selector = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
  kind: 'KubeadmControlPlaneTemplate',
  matchResources: { controlPlane: true },
};

/** A patch of control planes. */
export function patchOf(name: string, field: string, value: JsonObject): JsonObject {
  const path = `/spec/template/spec/kubeadmConfigSpec/${field}`;
  return { name, definitions: [{ selector, jsonPatches: [{ op: 'add', path, ...value }] }] };
}

/** The commands of the last of 20 patches, which are those of a control plane. */
export const lastCommands = (clusterName: string): string[] => [`echo ${clusterName}`];

/** Gives a class 20 patches: half of them with Go templates, of which the last one reads the name of the Cluster. */
export function addPatches(spec: JsonObject): void {
  const patches = objectsAt(spec, 'patches').filter((patch) => !textAt(patch, 'enabledIf').includes('nosuch'));
  while (patches.length < 19) {
    const index = patches.length;
    const template = `{{ range $i, $v := until 3 }}- echo ${index} {{ $i }} {{ $.builtin.controlPlane.version }}\n{{ end }}`;
    const value = index % 2 === 0 ? { valueFrom: { template } } : { value: [`echo ${index}`] };
    patches.push(patchOf(`patch-${index}`, 'preKubeadmCommands', value));
  }
  const [command = ''] = lastCommands('{{ .builtin.cluster.name }}');
  patches.push(patchOf('name', 'preKubeadmCommands', { valueFrom: { template: `- ${command}` } }));
  spec.patches = patches;
}
