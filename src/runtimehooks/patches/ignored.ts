import {
  changedNames,
  fieldAt,
  isJsonObject,
  isSame,
  type Json,
  type JsonObject,
  objectAt,
  own,
} from '../../kubernetes/index.ts';
import { fieldsOf, isEmpty, pathInObject, putAt } from './class-fields.ts';

type Keys = readonly string[];

/** The fields that Cluster API may set in a control plane: its version, the references to its machines, or a field of classes by its path. */
export type ControlPlaneField = string;

/** The fields whose changes are taken over: `true` with all that is in it. Of a removed one nothing is. */
type Taken = true | { readonly [field: string]: Taken };

const labels = { labels: true, annotations: true } as const;
/** The template becomes an object: of the infrastructure cluster, of the control plane, of a MachinePool. */
const becomingObject: Taken = { metadata: {}, spec: { template: { spec: true, metadata: labels } } };
/** The template stays one: of a MachineDeployment, or of the machines of a control plane. */
const stayingTemplate: Taken = { metadata: labels, spec: { template: { spec: true, metadata: labels } } };
/** Before v1.14, patches of metadata were dropped. */
const oldTemplate: Taken = { metadata: {}, spec: { template: { spec: true, metadata: {} } } };

const ownMetadata: readonly Keys[] = [
  ['labels', 'cluster.x-k8s.io/cluster-name'],
  ['labels', 'topology.cluster.x-k8s.io/owned'],
  ['labels', 'topology.cluster.x-k8s.io/deployment-name'],
  ['labels', 'topology.cluster.x-k8s.io/pool-name'],
  ['annotations', 'cluster.x-k8s.io/cloned-from-name'],
  ['annotations', 'cluster.x-k8s.io/cloned-from-groupkind'],
];

/** A field that keeps the value that the template has, or that Cluster API sets: as which field. */
type Kept = readonly [Keys, ControlPlaneField?];

const inControlPlane: readonly (readonly [Keys, ControlPlaneField])[] = [
  [['spec', 'version'], 'version'],
  [['spec', 'machineTemplate', 'metadata'], 'machines'],
  [['spec', 'machineTemplate', 'infrastructureRef'], 'machines'],
  [['spec', 'machineTemplate', 'spec', 'infrastructureRef'], 'machines'],
  ...fieldsOf('ControlPlane').flatMap((field) =>
    [true, false].map((isOld) => [pathInObject('ControlPlane', field, isOld), field.path] as const),
  ),
];
const ofControlPlane = inControlPlane.map(([path, field]): Kept => [['spec', 'template', ...path], field]);

function takenOf({ holder: { kind }, dropsMetadata = false }: TemplatePlace): Taken {
  return dropsMetadata ? oldTemplate : kind === 'Cluster' || kind === 'MachinePool' ? becomingObject : stayingTemplate;
}

function keptOf(place: TemplatePlace): Kept[] {
  const { kind, fieldPath } = place.holder;
  const at = takenOf(place) === stayingTemplate ? [] : ['spec', 'template'];
  return [
    ...ownMetadata.map((keys): Kept => [[...at, 'metadata', ...keys]]),
    ...(kind === 'Cluster' && fieldPath === 'spec.controlPlaneRef' ? ofControlPlane : []),
  ];
}

/** Where a template is used, and what Cluster API sets there. */
export interface TemplatePlace {
  holder: { readonly kind?: Json | undefined; readonly fieldPath?: Json | undefined };
  /** Fields of the control plane that Cluster API sets, besides those that the template has. Default: the version. */
  sets?: readonly ControlPlaneField[];
  /** Whether it is Cluster API 1.13 or older, which drops patches of metadata. Default: false. */
  dropsMetadata?: boolean;
}

/** The fields of a control plane that Cluster API sets, as far as the variable `builtin` at its template says so. */
export function fieldsSetBy(builtin: Json | undefined): ControlPlaneField[] {
  const controlPlane = fieldAt(builtin, 'controlPlane');
  const isSet = (path: string) => fieldAt(controlPlane, ...path.split('.')) !== undefined;
  return [
    'version',
    ...fieldsOf('ControlPlane').flatMap(({ path, isInBuiltin }) => (isInBuiltin && isSet(path) ? [path] : [])),
    ...(isSet('machineTemplate') ? ['machines'] : []),
  ];
}

/**
 * Reverts the changes of a patched template that Cluster API ignores or overwrites, so that the template becomes what
 * it is used as (updateDesiredState in core/reconcilers/topology/cluster/patches/engine.go, v1.14).
 *
 * @param before as in the request.
 * @param after as patched; it is changed, and then shares parts with `before`.
 * @returns the fields whose changes were reverted.
 */
export function revertIgnored(before: JsonObject, after: JsonObject, place: TemplatePlace): Keys[] {
  const { sets = ['version'] } = place;
  const reverted: Keys[] = [];

  /** Removes what is around a field that was removed, if the template has no such object. */
  function removeEmpty(path: Keys): void {
    if (path.length > 0 && fieldAt(before, ...path) === undefined && isEmpty(fieldAt(after, ...path))) {
      putAt(after, path, undefined);
      removeEmpty(path.slice(0, -1));
    }
  }
  function revert(path: Keys): void {
    const from = fieldAt(before, ...path);
    if (!isSame(from, fieldAt(after, ...path))) {
      reverted.push(path);
    }
    // Also what is equal: nobody has to compare again what is identical.
    putAt(after, path, from);
    removeEmpty(path.slice(0, -1));
  }
  function revertOthers(old: JsonObject, changed: JsonObject, taken: Taken, path: Keys): void {
    for (const name of changedNames(old, changed)) {
      const inner = [...path, name];
      const field = taken === true ? true : own(taken, name);
      const [from, to] = [own(old, name), own(changed, name)];
      if (typeof field === 'object' && isJsonObject(to) && isJsonObject(from ?? {})) {
        revertOthers(objectAt(from), to, field, inner);
        removeEmpty(inner);
      } else if (field !== true || to === undefined) {
        revert(inner);
      }
    }
  }
  revertOthers(before, after, takenOf(place), []);
  for (const [path, field = ''] of keptOf(place)) {
    if (fieldAt(before, ...path) !== undefined || (sets.includes(field) && fieldAt(after, ...path) !== undefined)) {
      revert(path);
    }
  }
  return reverted;
}
