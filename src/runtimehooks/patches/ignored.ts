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

/** The keys of a field, from the root of its object. */
type Keys = readonly string[];

/** The fields that Cluster API may set in a control plane: its version, the references to its machines, or a field of classes by its path. */
export type ControlPlaneField = string;

/**
 * The treatment of a patched field: it is taken over; it keeps the value that the template has (`kept`), or Cluster API
 * sets; or its fields are handled one by one.
 */
type Handling = 'taken' | 'kept' | ControlPlaneField | FieldHandling;

/** How the fields of an object are handled. All others are taken over with `*`, and without it ignored. */
interface FieldHandling {
  readonly '*'?: 'taken';
  readonly [field: string]: Handling | undefined;
}

/** Labels and annotations of Cluster API keep their values. */
const metadata: FieldHandling = {
  labels: {
    '*': 'taken',
    'cluster.x-k8s.io/cluster-name': 'kept',
    'topology.cluster.x-k8s.io/owned': 'kept',
    'topology.cluster.x-k8s.io/deployment-name': 'kept',
    'topology.cluster.x-k8s.io/pool-name': 'kept',
  },
  annotations: {
    '*': 'taken',
    'cluster.x-k8s.io/cloned-from-name': 'kept',
    'cluster.x-k8s.io/cloned-from-groupkind': 'kept',
  },
};

/** Fields of a control plane keep the value that Cluster API sets, or that the template has. */
function controlPlaneHandling(): FieldHandling {
  const places: [Keys, ControlPlaneField][] = [
    [['version'], 'version'],
    [['machineTemplate', 'metadata'], 'machines'],
    [['machineTemplate', 'infrastructureRef'], 'machines'],
    [['machineTemplate', 'spec', 'infrastructureRef'], 'machines'],
    ...fieldsOf('ControlPlane').flatMap((field) =>
      [true, false].map((isOld): [Keys, ControlPlaneField] => [
        pathInObject('ControlPlane', field, isOld).slice(1),
        field.path,
      ]),
    ),
  ];
  const below = (inner: typeof places): FieldHandling => ({
    '*': 'taken',
    ...Object.fromEntries(
      [...Map.groupBy(inner, ([[first = '']]) => first)].map(([name, group]) => [
        name,
        group[0]?.[0].length === 1
          ? group[0][1]
          : below(group.map(([[, ...rest], field]): [Keys, ControlPlaneField] => [rest, field])),
      ]),
    ),
  });
  return below(places);
}

const controlPlaneSpec = controlPlaneHandling();

/** The template becomes an object: of the infrastructure cluster, of the control plane, of a MachinePool. */
const becomingObject: FieldHandling = { metadata: {}, spec: { template: { spec: 'taken', metadata } } };
const becomingControlPlane: FieldHandling = { metadata: {}, spec: { template: { spec: controlPlaneSpec, metadata } } };
/** The template stays one: of a MachineDeployment, or of the machines of a control plane. */
const stayingTemplate: FieldHandling = {
  metadata,
  spec: { template: { spec: 'taken', metadata: { labels: 'taken', annotations: 'taken' } } },
};
/** Before v1.14, patches of metadata were dropped. */
const oldTemplate: FieldHandling = { metadata: {}, spec: { template: { spec: 'taken', metadata: {} } } };
const oldControlPlane: FieldHandling = { metadata: {}, spec: { template: { spec: controlPlaneSpec, metadata: {} } } };

function handlingOf({ holder: { kind, fieldPath }, dropsMetadata = false }: TemplatePlace): FieldHandling {
  if (kind === 'Cluster' && fieldPath === 'spec.controlPlaneRef') {
    return dropsMetadata ? oldControlPlane : becomingControlPlane;
  }
  if (dropsMetadata) {
    return oldTemplate;
  }
  return kind === 'Cluster' || kind === 'MachinePool' ? becomingObject : stayingTemplate;
}

/** Where a template is used, and what Cluster API sets there. */
export interface TemplatePlace {
  /** The holderReference of the request. */
  holder: { readonly kind?: Json | undefined; readonly fieldPath?: Json | undefined };
  /**
   * Fields of the control plane that Cluster API sets in this Cluster, besides those that the template has: a patch of
   * another one has an effect. Default: the version.
   */
  sets?: readonly ControlPlaneField[];
  /** Whether it is Cluster API 1.13 or older, which drops patches of metadata. Default: false. */
  dropsMetadata?: boolean;
}

/**
 * The fields of a control plane that Cluster API sets, as far as the request says so.
 *
 * @param builtin the variable `builtin` of the control plane's template.
 */
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
  const sets: readonly (Handling | undefined)[] = place.sets ?? ['version'];
  const reverted: Keys[] = [];

  function revertIn(old: JsonObject, changed: JsonObject, handling: FieldHandling, path: Keys): void {
    const takesOthers = Object.hasOwn(handling, '*');
    for (const name of takesOthers ? Object.keys(handling) : changedNames(old, changed)) {
      const field = own(handling, name);
      const from = own(old, name);
      const to = own(changed, name);
      if (from === to) {
        continue;
      }
      // A part that is replaced, with null for example, still has the fields that are kept; one that is removed is not taken.
      const isTaken = takesOthers || (typeof field === 'object' && Object.hasOwn(field, '*') && to !== undefined);
      const areObjects = isJsonObject(to) && isJsonObject(from ?? {});
      if (typeof field === 'object' && (isTaken || areObjects)) {
        const inner = [...path, name];
        revertIn(objectAt(from), objectAt(to), field, inner);
        if (from === undefined && isEmpty(fieldAt(after, ...inner))) {
          putAt(after, inner, undefined);
        }
        continue;
      }
      const isReverted =
        field === 'taken'
          ? to === undefined && !takesOthers
          : from !== undefined || !takesOthers || sets.includes(field);
      if (isReverted) {
        const inner = [...path, name];
        if (!isSame(from, to)) {
          reverted.push(inner);
        }
        // Also what is equal: nobody has to compare again what is identical.
        putAt(after, inner, from);
      }
    }
  }
  revertIn(before, after, handlingOf(place), []);
  return reverted;
}
