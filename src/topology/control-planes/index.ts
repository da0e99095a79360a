import { groupOf, type JsonObject, textAt } from '../../kubernetes/index.ts';
import { awsManaged } from './aws-managed.ts';
import { azureAsoManaged } from './azure-aso-managed.ts';
import { azureManaged } from './azure-managed.ts';
import { gcpManaged } from './gcp-managed.ts';
import { k0s } from './k0s.ts';
import { k0smotron } from './k0smotron.ts';
import { kamaji } from './kamaji.ts';
import type { ControlPlaneKind, KindWithMachines } from './kind.ts';
import { kthrees } from './kthrees.ts';
import { kubeadm } from './kubeadm.ts';
import { ociManaged } from './oci-managed.ts';
import { rke2 } from './rke2.ts';
import { rosa } from './rosa.ts';
import { talos } from './talos.ts';

export type { Arrivals, KindWithMachines } from './kind.ts';
export { kubeadmDefaults, withKubeadmDefaults } from './kubeadm-configs.ts';
export { controlPlaneSpecCauses, kubeadmConfigCauses } from './kubeadm-refusal.ts';
export {
  afterPath,
  afterPaths,
  ageReasons,
  cloneOf,
  inRequest,
  type MachineObjects,
  machineTemplateOf,
  machineTemplatePath,
  readsTimes,
  running,
  shownMetadata,
  timeAt,
  type UpdateRequest,
} from './made-machine.ts';
export { kubeadm };

const kinds: ReadonlyMap<string, ControlPlaneKind> = new Map(
  [
    ...[kubeadm, rke2, k0s, talos, kthrees, k0smotron, kamaji],
    ...[awsManaged, rosa, azureManaged, azureAsoManaged, gcpManaged, ociManaged],
  ].map((one) => [`${one.group} ${one.kind}`, one]),
);

/** The kind of a control plane; undefined if it is not known what it decides. */
export const controlPlaneOf = (object: JsonObject): ControlPlaneKind | undefined =>
  kinds.get(`${groupOf(object)} ${textAt(object, 'kind')}`);

/** The kind of a control plane with Machines; undefined if it has none, or it is not known. */
export function kindWithMachines(object: JsonObject): KindWithMachines | undefined {
  const of = controlPlaneOf(object);
  return of?.hasMachines === false ? undefined : of;
}
