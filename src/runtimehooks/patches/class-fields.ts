import { fieldAt, isJsonObject, type Json, type JsonObject, own, setOwn } from '../../kubernetes/index.ts';
import { compareReleases, type Release, v1 } from '../catalog/lifecycle.ts';

/** A part of a topology that has a class, and the object that is made for it. */
export type PartKind = 'ControlPlane' | 'MachineDeployment' | 'MachinePool';

/** A field of topologies and classes that Cluster API carries to the objects of a Cluster. */
export interface ClassField {
  /** In the part of the topology, and of the class. */
  path: string;
  kinds: readonly PartKind[];
  /** The first release with it. Default: all releases that a rehearsal simulates have it. */
  since?: Release;
  /** Whether classes do not have it. */
  isOnlyInTopology?: true;
  /** What in a topology replaces the field of the class, even if it lacks the field. Default: the field. */
  replacedWith?: string;
  /** To the spec of the object; to its Machines, in place; or only to new Machines, so that a change replaces them. */
  carriedTo: 'object' | 'machines' | 'newMachines';
  /** In the spec of the object, or of its Machines. Default: the same path. */
  objectPath?: string;
  /** Whether the variable `builtin` has it. */
  isInBuiltin?: true;
  /** Whether it is in seconds, and was a duration in v1beta1. */
  isDuration?: true;
}

const all = ['ControlPlane', 'MachineDeployment', 'MachinePool'] as const;
const workers = ['MachineDeployment', 'MachinePool'] as const;
const timeout = { kinds: all, carriedTo: 'machines', isDuration: true } as const;

/**
 * The fields of classes and topologies, besides metadata, names, variables and MachineHealthChecks
 * (exp/topology/desiredstate and api/core/v1beta2/clusterclass_types.go, v1.14).
 */
const classFields: readonly ClassField[] = [
  { path: 'replicas', kinds: all, isOnlyInTopology: true, carriedTo: 'object', isInBuiltin: true },
  {
    path: 'rollout.after',
    kinds: ['ControlPlane', 'MachineDeployment'],
    isOnlyInTopology: true,
    carriedTo: 'object',
  },
  {
    path: 'rollout.strategy',
    kinds: ['MachineDeployment'],
    replacedWith: 'rollout',
    carriedTo: 'object',
  },
  {
    path: 'healthCheck.remediation.maxInFlight',
    kinds: ['MachineDeployment'],
    carriedTo: 'object',
    objectPath: 'remediation.maxInFlight',
  },
  { path: 'deletion.order', kinds: ['MachineDeployment'], carriedTo: 'object' },
  { path: 'deletion.nodeDrainTimeoutSeconds', ...timeout },
  { path: 'deletion.nodeVolumeDetachTimeoutSeconds', ...timeout },
  { path: 'deletion.nodeDeletionTimeoutSeconds', ...timeout },
  {
    path: 'readinessGates',
    kinds: ['ControlPlane', 'MachineDeployment'],
    carriedTo: 'machines',
  },
  {
    path: 'taints',
    kinds: all,
    since: v1(13),
    carriedTo: 'machines',
  },
  { path: 'minReadySeconds', kinds: workers, carriedTo: 'machines' },
  { path: 'failureDomain', kinds: ['MachineDeployment'], carriedTo: 'newMachines' },
  { path: 'failureDomains', kinds: ['MachinePool'], carriedTo: 'object' },
];

export const fieldsOf = (kind: PartKind): ClassField[] => classFields.filter(({ kinds }) => kinds.includes(kind));

/** Those that the spec of its Machines has. */
export const machineFieldsOf = (kind: PartKind): ClassField[] =>
  fieldsOf(kind).filter(({ carriedTo }) => carriedTo !== 'object');

/** The names in the spec of Machines of what is written to them in place, or only to new ones. */
export const machineFieldNames = (kind: PartKind, carriedTo: 'machines' | 'newMachines'): string[] => [
  ...new Set(
    machineFieldsOf(kind).flatMap((field) =>
      field.carriedTo === carriedTo ? (pathOf(field).slice(0, 1) as string[]) : [],
    ),
  ),
];

const pathOf = ({ path, objectPath = path }: ClassField): string[] => objectPath.split('.');

const machineSpec = {
  ControlPlane: ['spec', 'machineTemplate', 'spec'],
  MachineDeployment: ['spec', 'template', 'spec'],
  MachinePool: ['spec', 'template', 'spec'],
} as const;

/** @param isOfOldContract whether it is a control plane of the contract v1beta1. */
export function pathInObject(kind: PartKind, field: ClassField, isOfOldContract = false): string[] {
  if (field.carriedTo === 'object') {
    return ['spec', ...pathOf(field)];
  }
  return isOfOldContract
    ? ['spec', 'machineTemplate', field.isDuration ? (pathOf(field).at(-1) ?? '').replace(/Seconds$/, '') : field.path]
    : [...machineSpec[kind], ...pathOf(field)];
}

export const isEmptyObject = (value: Json | undefined): boolean =>
  isJsonObject(value) && Object.keys(value).length === 0;

/** The fields that a part has in a release, with their values: those of the topology, or else of its class. */
export function carriedFields(
  kind: PartKind,
  release: Release,
  topology: JsonObject,
  settings: JsonObject | undefined,
): { field: ClassField; value: Json }[] {
  return fieldsOf(kind).flatMap((field) => {
    const { path, since, isOnlyInTopology, replacedWith = path } = field;
    if (since !== undefined && compareReleases(release, since) < 0) {
      return [];
    }
    const at = (part: JsonObject | undefined, place: string) => fieldAt(part, ...place.split('.'));
    const isOfTopology = isOnlyInTopology || !isEmptyObject(at(topology, replacedWith) ?? {});
    const value = at(isOfTopology ? topology : settings, path);
    return value === undefined || isEmptyObject(value) ? [] : [{ field, value }];
  });
}

/** Sets a field of an object, and makes the objects around it; undefined removes it. */
export function putAt(object: JsonObject, path: readonly string[], value: Json | undefined): void {
  let holder = object;
  for (const name of path.slice(0, -1)) {
    let inner = own(holder, name);
    if (!isJsonObject(inner)) {
      if (value === undefined) {
        return;
      }
      inner = {};
      setOwn(holder, name, inner);
    }
    holder = inner;
  }
  const name = path.at(-1) ?? '';
  if (value === undefined) {
    delete holder[name];
  } else {
    setOwn(holder, name, value);
  }
}

/** Those fields of a spec of Machines that are written to them in place. */
export function writtenInPlace(kind: PartKind, spec: JsonObject): JsonObject {
  const written: JsonObject = {};
  for (const field of fieldsOf(kind).filter(({ carriedTo }) => carriedTo === 'machines')) {
    putAt(written, pathOf(field), fieldAt(spec, ...pathOf(field)));
  }
  return written;
}
