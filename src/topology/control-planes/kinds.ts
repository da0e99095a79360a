import { groupOf, type JsonObject, textAt } from '../../kubernetes/index.ts';
import { awsManaged } from './aws-managed.ts';
import { azureAsoManaged } from './azure-aso-managed.ts';
import { azureManaged } from './azure-managed.ts';
import { gcpManaged } from './gcp-managed.ts';
import { k0s } from './k0s.ts';
import { k0smotron } from './k0smotron.ts';
import { kamaji } from './kamaji.ts';
import type { ControlPlaneKind } from './kind.ts';
import { kthrees } from './kthrees.ts';
import { kubeadm } from './kubeadm.ts';
import { ociManaged } from './oci-managed.ts';
import { rke2 } from './rke2.ts';
import { rosa } from './rosa.ts';
import { talos } from './talos.ts';

const all: readonly ControlPlaneKind[] = [
  kubeadm,
  rke2,
  k0s,
  talos,
  kthrees,
  k0smotron,
  kamaji,
  awsManaged,
  rosa,
  azureManaged,
  azureAsoManaged,
  gcpManaged,
  ociManaged,
];

const kinds = new Map(all.map((one) => [`${one.group} ${one.kind}`, one]));

/** The kind of a control plane; undefined if it is not known what it decides. */
export const controlPlaneOf = (object: JsonObject): ControlPlaneKind | undefined =>
  kinds.get(`${groupOf(object)} ${textAt(object, 'kind')}`);
