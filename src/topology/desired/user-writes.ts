import {
  groupOf,
  type JsonObject,
  nameOf,
  namespacedName,
  namespaceOf,
  objectAt,
  textAt,
} from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { shownMetadata } from '../control-planes/index.ts';
import { lastAppliedTo, mergePatch } from '../manifests/layered.ts';
import { appliersOf } from '../manifests/server-side-apply.ts';
import { isWritten } from '../refusals/index.ts';
import { keyOf, nameIn, picked } from '../world/objects.ts';
import { isMade } from '../world/prepared.ts';
import { classNameOf, topologyOf } from '../world/topologies.ts';
import type { World } from '../world/world.ts';

export interface UserWrite {
  /** `merge`: the merge patch of `kubectl apply`; `apply`: server-side apply. */
  is: 'create' | 'merge' | 'apply';
  sent: JsonObject;
  manager: string | undefined;
  /** What is foreseen to be stored. */
  after: JsonObject;
  /** The version of the API in which the object was read; undefined if it is new. */
  readAs: string | undefined;
}

function manifestOf({ status: _status, metadata, ...rest }: JsonObject): JsonObject {
  return { ...rest, metadata: picked(objectAt(metadata), ['name', 'namespace', 'labels', 'annotations']) };
}

/** The write with the version and the variables that a Cluster will have: lists in merge patches are whole. */
function withTopology(sent: JsonObject, after: JsonObject): JsonObject {
  const edited = picked(topologyOf(after), ['version', 'variables']);
  const topology = { ...topologyOf(sent), ...edited };
  return { ...sent, spec: { ...objectAt(sent, 'spec'), topology } };
}

const isCluster = (object: JsonObject): boolean => object.kind === 'Cluster' && groupOf(object) === coreGroup;

interface UserChange {
  manifests: readonly JsonObject[];
  /** Whether Clusters are edited as well: their versions, or variables. */
  isEdited: boolean;
  /** Who applies on the server's side. Default: the user who applied an object last. */
  fieldManager: string | undefined;
}

function writeOf(
  old: JsonObject | undefined,
  after: JsonObject,
  manifest: JsonObject | undefined,
  { isEdited, fieldManager }: UserChange,
): Pick<UserWrite, 'is' | 'sent' | 'manager'> {
  const edited = (sent: JsonObject) => (isEdited && isCluster(after) ? withTopology(sent, after) : sent);
  const { apiVersion = '', kind = '' } = old ?? after;
  const given =
    manifest === undefined
      ? { apiVersion, kind, metadata: { name: nameOf(after), namespace: namespaceOf(after) } }
      : manifestOf(manifest);
  const manager = manifest && (fieldManager ?? (old && appliersOf(old)[0]));
  if (manager !== undefined) {
    return { is: 'apply', sent: edited(given), manager };
  }
  if (old === undefined) {
    return { is: 'create', sent: edited(given), manager };
  }
  const { status: _status, ...last } = (manifest && lastAppliedTo(old, manifest.apiVersion)) ?? {};
  const applied = { ...last, metadata: shownMetadata(last) };
  return { is: 'merge', sent: edited(mergePatch(given, applied)), manager };
}

/**
 * The writes of users that lead from one state to another, in the manner of their writers: on the server's side, if an object
 * was applied so before, else as `kubectl apply` does. `unasked` are those that an API server cannot judge: it would judge them
 * by the class or the definition that it has, and not by the one that is written together with them.
 */
export function userWrites(
  before: World,
  after: Iterable<JsonObject>,
  change: UserChange,
): { writes: UserWrite[]; unasked: JsonObject[] } {
  const manifests = new Map(change.manifests.map((manifest) => [keyOf(nameIn(manifest)), manifest]));
  const changed = [...after].filter(
    (object) => isWritten(object, before.find(nameIn(object)), before) && !isMade(object),
  );
  const classes = new Set(changed.filter(({ kind }) => kind === 'ClusterClass').map(namespacedName));
  const definitions = new Set(
    changed
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map((object) => `${textAt(object, 'spec', 'group')} ${textAt(object, 'spec', 'names', 'kind')}`),
  );
  const isJudged = (object: JsonObject) =>
    !definitions.has(`${groupOf(object)} ${textAt(object, 'kind')}`) &&
    !(
      isCluster(object) && [object, before.find(nameIn(object)) ?? object].some((one) => classes.has(classNameOf(one)))
    );
  const writes = changed.filter(isJudged).flatMap((object): UserWrite[] => {
    const old = before.find(nameIn(object));
    const manifest = manifests.get(keyOf(nameIn(object)));
    return manifest !== undefined || old !== undefined
      ? [{ ...writeOf(old, object, manifest, change), after: object, readAs: old && textAt(old, 'apiVersion') }]
      : [];
  });
  return { writes, unasked: changed.filter((object) => !isJudged(object)) };
}
