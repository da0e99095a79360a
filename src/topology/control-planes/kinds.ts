import { groupOf, type JsonObject, textAt } from '../../kubernetes/index.ts';
import type { ControlPlaneKind } from './kind.ts';
import { kubeadm } from './kubeadm.ts';
import { rke2 } from './rke2.ts';

const kinds = new Map([kubeadm, rke2].map((one) => [`${one.group} ${one.kind}`, one]));

/** The kind of a control plane; undefined if it is not known what it decides. */
export const controlPlaneOf = (object: JsonObject): ControlPlaneKind | undefined =>
  kinds.get(`${groupOf(object)} ${textAt(object, 'kind')}`);
