import {
  applyMergePatch,
  groupOf,
  isJsonObject,
  type Json,
  type JsonObject,
  lastAppliedAnnotation,
  objectAt,
  own,
  setOwn,
  textAt,
} from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { nameIn } from '../world/objects.ts';
import { isMade } from '../world/prepared.ts';
import { World } from '../world/world.ts';
import { appliedOnServer, appliersOf, ownershipOf } from './server-side-apply.ts';
import { inV1beta2 } from './v1beta1.ts';

/** The merge patch of `kubectl apply`: what is given, and null for what was applied last and is given no longer. */
export function mergePatch(given: JsonObject, last: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const name of Object.keys(last)) {
    if (!Object.hasOwn(given, name)) {
      setOwn(patch, name, null);
    }
  }
  for (const [name, value] of Object.entries(given)) {
    const before = own(last, name);
    setOwn(patch, name, isJsonObject(value) && isJsonObject(before) ? mergePatch(value, before) : value);
  }
  return patch;
}

/** Fields of a Cluster that Cluster API sets, and that manifests leave out. */
const setByControllers = ['controlPlaneRef', 'infrastructureRef', 'controlPlaneEndpoint'];

/** The object applied last, from kubectl's annotation; undefined without one. */
export function lastAppliedTo(current: JsonObject, apiVersion: Json | undefined): JsonObject | undefined {
  const text = textAt(current, 'metadata', 'annotations', lastAppliedAnnotation);
  try {
    const last = JSON.parse(text) as Json;
    return !isJsonObject(last) ? undefined : last.apiVersion === apiVersion ? last : inV1beta2(last);
  } catch {
    return undefined;
  }
}

interface Applying {
  /** Who applies on the server's side (`kubectl apply --server-side`, Flux). Default: the user who applied an object last. */
  fieldManager?: string | undefined;
  /** Told of fields of a spec that a manifest no longer gives, where nothing says who wrote them: they stay. */
  onKept?: ((object: JsonObject, fields: readonly string[]) => void) | undefined;
  /** Told of an object that several users apply, of whom the first is taken as who applies it now. */
  onSeveral?: ((object: JsonObject, managers: readonly string[]) => void) | undefined;
}

/** Fields that only controllers and defaults set. */
const setByOthers = new Set([...setByControllers, 'paused', 'clusterNetwork', 'replicas', 'rollout', 'selector']);

const keptFields = (current: JsonObject, wanted: JsonObject): string[] =>
  Object.keys(objectAt(current, 'spec')).filter(
    (name) => own(objectAt(wanted, 'spec'), name) === undefined && !setByOthers.has(name),
  );

function appliedTo(given: JsonObject, change: JsonObject, { fieldManager, onKept, onSeveral }: Applying): JsonObject {
  const [current, wanted] =
    given.apiVersion === change.apiVersion ? [given, change] : [inV1beta2(given), inV1beta2(change)];
  const uid = textAt(current, 'metadata', 'uid');
  const isDump = textAt(wanted, 'metadata', 'uid') === uid;
  // Two manifests of one object, or two dumps of it: the second is all that there will be.
  if (isDump) {
    const spec: JsonObject = { ...objectAt(wanted, 'spec') };
    const old = objectAt(current, 'spec');
    if (textAt(wanted, 'kind') === 'Cluster' && groupOf(wanted) === coreGroup) {
      for (const field of setByControllers) {
        if (spec[field] === undefined && old[field] !== undefined) {
          spec[field] = old[field];
        }
      }
    }
    const { status: _status, ...rest } = wanted;
    return {
      ...rest,
      ...(wanted.spec !== undefined && { spec }),
      ...(current.status !== undefined && { status: current.status }),
    };
  }
  const { status: _status, ...manifest } = wanted;
  const ownership = ownershipOf(current, fieldManager);
  const appliers = appliersOf(current);
  if (fieldManager === undefined && appliers.length > 1) {
    onSeveral?.(current, appliers);
  }
  if (ownership !== undefined && current.apiVersion === given.apiVersion) {
    return appliedOnServer(current, manifest, ownership);
  }
  const last = lastAppliedTo(current, wanted.apiVersion);
  const kept = last === undefined ? keptFields(current, wanted) : [];
  if (kept.length > 0) {
    onKept?.(current, kept);
  }
  return applyMergePatch(current, mergePatch(manifest, last ?? {})) as JsonObject;
}

/**
 * Objects after others have been applied to them, as `kubectl apply` does, on the server's side if they were applied so
 * before: what is not named stays, and what Cluster API makes itself stays as it is, whatever is applied.
 */
export function layered(
  from: Iterable<JsonObject>,
  changes: Iterable<JsonObject>,
  applying: Applying = {},
): JsonObject[] {
  const wanted = new World([...changes].filter((object) => !isMade(object)));
  const there = new World(from);
  const result: JsonObject[] = [];
  for (const object of there) {
    const change = isMade(object) ? undefined : wanted.get(nameIn(object));
    result.push(change === undefined ? object : appliedTo(object, change, applying));
  }
  for (const change of wanted) {
    if (there.get(nameIn(change)) === undefined) {
      result.push(change);
    }
  }
  return result;
}
