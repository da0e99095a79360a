import { groupOf, type JsonObject, textAt } from '../../kubernetes/index.ts';
import { k0s } from './k0s.ts';
import type { ControlPlaneKind } from './kind.ts';
import { kthrees } from './kthrees.ts';
import { kubeadm } from './kubeadm.ts';
import { rke2 } from './rke2.ts';
import { talos } from './talos.ts';

const all: readonly ControlPlaneKind[] = [kubeadm, rke2, k0s, talos, kthrees];

const kinds = new Map(all.map((one) => [`${one.group} ${one.kind}`, one]));

/** The kind of a control plane; undefined if it is not known what it decides. */
export const controlPlaneOf = (object: JsonObject): ControlPlaneKind | undefined =>
  kinds.get(`${groupOf(object)} ${textAt(object, 'kind')}`);
