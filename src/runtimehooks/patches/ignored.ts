import { fieldAt, isJsonObject, isSame, type Json, type JsonObject, own, setOwn } from '../../kubernetes/index.ts';

/** The keys of a field, from the root of its object. */
type Keys = readonly string[];

/** The parts of an object that Cluster API takes over from a patch: `true` for a whole part, nothing of an empty one. */
interface Parts {
  readonly [field: string]: true | Parts;
}

const metadata: Parts = { labels: true, annotations: true };

/** The template becomes an object: of the infrastructure cluster, of the control plane, of a MachinePool. */
const objectParts: Parts = { metadata: {}, spec: { template: { spec: true, metadata } } };
/** The template stays one: of a MachineDeployment, or of the machines of a control plane. */
const templateParts: Parts = { ...objectParts, metadata };
/** Before v1.14, patches of metadata were dropped. */
const oldParts: Parts = { metadata: {}, spec: { template: { spec: true, metadata: {} } } };

/** Labels and annotations of Cluster API that keep their values. */
const ownLabels = [
  'cluster.x-k8s.io/cluster-name',
  'topology.cluster.x-k8s.io/owned',
  'topology.cluster.x-k8s.io/deployment-name',
  'topology.cluster.x-k8s.io/pool-name',
];
const ownAnnotations = ['cluster.x-k8s.io/cloned-from-name', 'cluster.x-k8s.io/cloned-from-groupkind'];

const ownFields = (...at: string[]): Keys[] => [
  ...ownLabels.map((name) => [...at, 'metadata', 'labels', name]),
  ...ownAnnotations.map((name) => [...at, 'metadata', 'annotations', name]),
];
const ownOfTemplate = ownFields();
const ownOfObject = ownFields('spec', 'template');

const machineTemplate = ['spec', 'template', 'spec', 'machineTemplate'];
const deletion = [...machineTemplate, 'spec', 'deletion'];

/** A group of fields of a control plane that Cluster API may set. */
export type ControlPlaneField =
  | 'version'
  | 'replicas'
  | 'rolloutAfter'
  | 'machines'
  | 'readinessGates'
  | 'taints'
  | 'nodeDrainTimeoutSeconds'
  | 'nodeVolumeDetachTimeoutSeconds'
  | 'nodeDeletionTimeoutSeconds';

/** Fields of a control plane that keep the value that Cluster API sets, or that the template has. */
const controlPlaneFields: Readonly<Record<ControlPlaneField, readonly Keys[]>> = {
  version: [['spec', 'template', 'spec', 'version']],
  replicas: [['spec', 'template', 'spec', 'replicas']],
  rolloutAfter: [['spec', 'template', 'spec', 'rollout', 'after']],
  machines: [
    [...machineTemplate, 'metadata'],
    [...machineTemplate, 'infrastructureRef'],
    [...machineTemplate, 'spec', 'infrastructureRef'],
  ],
  readinessGates: [
    [...machineTemplate, 'readinessGates'],
    [...machineTemplate, 'spec', 'readinessGates'],
  ],
  taints: [
    [...machineTemplate, 'taints'],
    [...machineTemplate, 'spec', 'taints'],
  ],
  nodeDrainTimeoutSeconds: [
    [...machineTemplate, 'nodeDrainTimeout'],
    [...deletion, 'nodeDrainTimeoutSeconds'],
  ],
  nodeVolumeDetachTimeoutSeconds: [
    [...machineTemplate, 'nodeVolumeDetachTimeout'],
    [...deletion, 'nodeVolumeDetachTimeoutSeconds'],
  ],
  nodeDeletionTimeoutSeconds: [
    [...machineTemplate, 'nodeDeletionTimeout'],
    [...deletion, 'nodeDeletionTimeoutSeconds'],
  ],
};

const allControlPlaneFields: readonly Keys[] = Object.values(controlPlaneFields).flat();

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
  return [
    'version',
    ...(fieldAt(builtin, 'controlPlane', 'replicas') === undefined ? [] : (['replicas'] as const)),
    ...(fieldAt(builtin, 'controlPlane', 'machineTemplate') === undefined ? [] : (['machines'] as const)),
  ];
}

const isControlPlane = ({ kind, fieldPath }: TemplatePlace['holder']) =>
  kind === 'Cluster' && fieldPath === 'spec.controlPlaneRef';

function put(object: JsonObject, [name = '', ...rest]: Keys, value: Json | undefined): void {
  if (rest.length > 0) {
    const inner = own(object, name);
    if (isJsonObject(inner)) {
      put(inner, rest, value);
    } else if (value !== undefined) {
      const added: JsonObject = {};
      setOwn(object, name, added);
      put(added, rest, value);
    }
  } else if (value === undefined) {
    delete object[name];
  } else {
    setOwn(object, name, value);
  }
}

/** Reverts all changes outside of the parts that are taken over. */
function revertOthers(before: JsonObject, after: JsonObject, parts: Parts, path: Keys, reverted: Keys[]): void {
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  for (const name of [...Object.keys(before), ...added]) {
    const part = own(parts, name);
    const [old, changed] = [own(before, name), own(after, name)];
    if (part === true && changed !== undefined) {
      continue;
    }
    if (part !== undefined && part !== true && isJsonObject(changed) && (old === undefined || isJsonObject(old))) {
      revertOthers(old ?? {}, changed, part, [...path, name], reverted);
    } else {
      if (!isSame(old, changed)) {
        reverted.push([...path, name]);
        put(after, [name], old);
      } else if (isJsonObject(old) || Array.isArray(old)) {
        // Nobody has to compare again what is identical.
        setOwn(after, name, old);
      }
    }
  }
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
  const { holder, sets = ['version'], dropsMetadata = false } = place;
  const becomesObject = holder.kind === 'Cluster' || holder.kind === 'MachinePool';
  const reverted: Keys[] = [];
  revertOthers(before, after, dropsMetadata ? oldParts : becomesObject ? objectParts : templateParts, [], reverted);
  const kept = dropsMetadata ? [] : becomesObject ? ownOfObject : ownOfTemplate;
  const set: readonly Keys[] = isControlPlane(holder) ? sets.flatMap((field) => controlPlaneFields[field]) : [];
  for (const path of isControlPlane(holder) ? [...kept, ...allControlPlaneFields] : kept) {
    const old = fieldAt(before, ...path);
    if ((old !== undefined || set.includes(path)) && !isSame(old, fieldAt(after, ...path))) {
      reverted.push(path);
      put(after, path, old);
    }
  }
  return reverted;
}
