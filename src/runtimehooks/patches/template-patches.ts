import {
  applyMergePatch,
  applyOperations,
  changedNames,
  copyOf,
  fieldAt,
  isJsonObject,
  isOperation,
  isSame,
  isTooDeep,
  itemsAt,
  type Json,
  type JsonObject,
  maxJsonDepth,
  maxPatchOperations,
  objectAt,
  objectsAt,
  own,
  PatchError,
  type PatchOperation,
  textAt,
  undecodable,
} from '../../kubernetes/index.ts';
import { fieldsOf, isEmptyObject, pathInObject, putAt } from './class-fields.ts';

/** A patch as messages contain it. */
export interface EncodedPatch {
  patchType?: Json | undefined;
  /** Base64 of a JSON patch or a JSON merge patch. */
  patch?: Json | undefined;
}

/** Why a patch cannot be applied, in Cluster API's words (core/reconcilers/topology/cluster/patches/engine.go, v1.14). */
export class BadPatch extends Error {}

/** Longest patch that is decoded, in characters of base64: the limit for a whole answer. */
const maxPatchLength = 20 * 1024 * 1024;

const formats = {
  JSONPatch: 'json patch (RFC6902)',
  JSONMergePatch: 'json merge patch (RFC7386)',
} as const;

const textOf = ({ patch }: EncodedPatch): string =>
  typeof patch === 'string' ? Buffer.from(patch, 'base64').toString('utf8').trim() : '';

/** Whether Cluster API skips a patch: it has no operations, or is an empty merge patch. */
export function isEmptyPatch(item: EncodedPatch): boolean {
  if (typeof item.patch === 'string' && item.patch.length > maxEmptyLength) {
    return false;
  }
  const text = textOf(item);
  return item.patchType === 'JSONPatch'
    ? text === '[]' || text === 'null'
    : item.patchType === 'JSONMergePatch' && (text === '' || text === '{}');
}

/** Longest empty patch that is recognized, in characters of base64: others contain more than white space. */
const maxEmptyLength = 100;

function decoded(item: EncodedPatch, failed: (why: string) => BadPatch, invalid: string): Json {
  if (typeof item.patch === 'string' && item.patch.length > maxPatchLength) {
    throw failed(
      `it has ${item.patch.length} characters of base64, and at most ${maxPatchLength} are decoded here: send only what changes`,
    );
  }
  let value: Json;
  try {
    value = JSON.parse(textOf(item)) as Json;
  } catch {
    throw failed(invalid);
  }
  if (isTooDeep(value)) {
    throw failed(`it nests deeper than ${maxJsonDepth} levels, which is too deep here`);
  }
  return value;
}

function operationsIn(item: EncodedPatch): PatchOperation[] {
  const failed = (why: string) => new BadPatch(`failed to apply patch: error decoding ${formats.JSONPatch}: ${why}`);
  const operations = decoded(item, failed, 'invalid state detected');
  if (!Array.isArray(operations)) {
    throw failed(
      `json: cannot unmarshal ${isJsonObject(operations) ? 'object' : typeof operations} into Go value of type jsonpatch.Patch`,
    );
  }
  if (operations.length > maxPatchOperations) {
    throw failed(
      `it has ${operations.length} operations, and at most ${maxPatchOperations} are applied here: replace whole objects and lists, or send a merge patch`,
    );
  }
  const problem = undecodable(operations);
  if (problem !== undefined) {
    throw failed(problem);
  }
  if (!operations.every(isOperation)) {
    throw failed('it is not a list of operations, each with op and path (a JSON pointer), move and copy with from');
  }
  return operations as unknown as PatchOperation[];
}

/**
 * Applies a patch to a copy of an object. What Cluster API takes over of the result is decided by `revertIgnored`.
 *
 * @param what the object is, in messages: Cluster API's differ for templates and for objects that are updated in place.
 * @throws {BadPatch} when it cannot be applied.
 */
export function applyPatch(
  object: JsonObject,
  item: EncodedPatch,
  what: 'template' | 'object' = 'template',
): JsonObject {
  const { patchType } = item;
  const unconvertible = (why: string) =>
    new BadPatch(
      `failed to apply patch to ${what}: failed to convert patched object to Unstructured: failed to unmarshal object from json: ${why}`,
    );
  if (patchType !== 'JSONPatch' && patchType !== 'JSONMergePatch') {
    throw unconvertible("couldn't get version/kind; json parse error: unexpected end of JSON input");
  }
  let result: Json;
  if (patchType === 'JSONPatch') {
    try {
      result = applyOperations(object, operationsIn(item));
    } catch (error) {
      throw error instanceof PatchError
        ? new BadPatch(`failed to apply patch: error applying ${formats.JSONPatch}: ${error.message}`)
        : error;
    }
  } else {
    const failed = (why: string) =>
      new BadPatch(`failed to apply patch: error applying ${formats.JSONMergePatch}: ${why}`);
    result = applyMergePatch(copyOf(object), decoded(item, failed, 'Invalid JSON Patch'));
  }
  if (!isJsonObject(result) || textAt(result, 'kind') === '') {
    throw unconvertible(`Object 'Kind' is missing in '${JSON.stringify(result).slice(0, 200)}'`);
  }
  return result;
}

/** Where a template is used. */
export interface TemplatePlace {
  holder: { readonly kind?: unknown; readonly fieldPath?: unknown };
  /** The variable at the template, which has the name of its class. */
  builtin?: Json | undefined;
  /**
   * Fields of the control plane that Cluster API sets, besides those that the template has: a patch of another one has an
   * effect. Default: as far as `builtin` says so.
   */
  sets?: readonly ControlPlaneField[];
  /** Whether it is Cluster API 1.13 or older, which drops patches of metadata. Default: false. */
  dropsMetadata?: boolean;
}

/** The place of an item of a GeneratePatches request. */
export function placeOfItem(item: { holderReference?: unknown; variables?: unknown }): TemplatePlace {
  const builtin = objectsAt((item.variables ?? null) as Json).find(({ name }) => name === 'builtin')?.value;
  return { holder: objectAt(item.holderReference as Json), builtin };
}

/** The keys of a field, from the root of its object. */
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

const takenOf = ({ holder: { kind }, dropsMetadata = false }: TemplatePlace): Taken =>
  dropsMetadata ? oldTemplate : kind === 'Cluster' || kind === 'MachinePool' ? becomingObject : stayingTemplate;

function keptOf(place: TemplatePlace): Kept[] {
  const { kind, fieldPath } = place.holder;
  const at = takenOf(place) === stayingTemplate ? [] : ['spec', 'template'];
  return [
    ...ownMetadata.map((keys): Kept => [[...at, 'metadata', ...keys]]),
    ...(kind === 'Cluster' && fieldPath === 'spec.controlPlaneRef' ? ofControlPlane : []),
  ];
}

function fieldsSetBy(builtin: Json | undefined): ControlPlaneField[] {
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
  const sets = place.sets ?? fieldsSetBy(place.builtin);
  const reverted: Keys[] = [];

  /** Removes what is around a field that was removed, if the template has no such object. */
  function removeEmpty(path: Keys): void {
    if (path.length > 0 && fieldAt(before, ...path) === undefined && isEmptyObject(fieldAt(after, ...path))) {
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

/** Where templates are used, as a selector of a ClusterClass's patch says it. */
export interface MatchResources {
  readonly controlPlane?: boolean | undefined;
  readonly infrastructureCluster?: boolean | undefined;
  /** Names of classes; one may begin or end with `*`. */
  readonly machineDeploymentClass?: { readonly names?: readonly string[] | undefined } | undefined;
  readonly machinePoolClass?: { readonly names?: readonly string[] | undefined } | undefined;
}

/** Whether a template is used there (matchesSelector in patches/inline/json_patch_generator.go of Cluster API). */
export function matchesResources(
  { controlPlane, infrastructureCluster, machineDeploymentClass, machinePoolClass }: MatchResources,
  { holder, builtin }: TemplatePlace,
): boolean {
  const isOneOf = (classes: MatchResources['machinePoolClass'], part: string) => {
    const name = textAt(builtin, part, 'class');
    return itemsAt(classes as Json | undefined, 'names').some(
      (pattern) =>
        typeof pattern === 'string' &&
        (pattern === name ||
          (pattern.startsWith('*') && name.endsWith(pattern.slice(1))) ||
          (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)))),
    );
  };
  switch (holder.kind) {
    case 'MachineDeployment':
      return isOneOf(machineDeploymentClass, 'machineDeployment');
    case 'MachinePool':
      return isOneOf(machinePoolClass, 'machinePool');
    default:
      return holder.fieldPath === 'spec.infrastructureRef' ? infrastructureCluster === true : controlPlane === true;
  }
}
