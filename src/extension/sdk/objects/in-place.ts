import {
  copyOf,
  encodedPatch,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonPatchOf,
  own,
  textAt,
} from '../../../kubernetes/index.ts';
import type {
  CanUpdateMachineRequest,
  CanUpdateMachineResponse,
  CanUpdateMachineSetRequest,
  CanUpdateMachineSetResponse,
  MessageSchema,
  Patch,
  UpdateMachineRequest,
} from '../../../runtimehooks/index.ts';
import { resolved } from '../../../runtimehooks/messages/index.ts';
import { segmentsOf, setAt, step } from './json-path.ts';

/** The fields of an object, by name (`*`: any name), or of the items of a list; `true` where they are not known. */
export type FieldTree = true | readonly [FieldTree] | { readonly [name: string]: FieldTree };

/** The fields that a schema describes, of a message or of a CustomResourceDefinition. */
export function fieldTree(schema: Json | undefined): FieldTree {
  const known = isJsonObject(schema) ? (resolved(schema as MessageSchema) as JsonObject | undefined) : undefined;
  if (known === undefined) {
    return true;
  }
  const { items, properties, additionalProperties, type } = known;
  if (items !== undefined) {
    return [fieldTree(items)];
  }
  const isOpen = additionalProperties === true || known['x-kubernetes-preserve-unknown-fields'] === true;
  const rest = isOpen || (properties === undefined && (type === undefined || type === 'object'));
  return {
    ...Object.fromEntries(
      Object.entries(isJsonObject(properties) ? properties : {}).map(([name, field]) => [name, fieldTree(field)]),
    ),
    ...(isJsonObject(additionalProperties) ? { '*': fieldTree(additionalProperties) } : rest && { '*': true as const }),
  };
}

/** Where a path leaves the known fields: the index of a segment; -1 if it does not. `*` may stand for any segment. */
export function firstUnknown(tree: FieldTree, path: readonly (string | number)[]): number {
  let at: FieldTree | undefined = tree;
  for (const [index, segment] of path.entries()) {
    if (at === true) {
      return -1;
    }
    if (isList(at)) {
      at = typeof segment === 'number' || segment === '*' ? at[0] : undefined;
    } else {
      // All fields of an object may differ in what is below them.
      at = Object.hasOwn(at, segment) ? at[segment] : (at['*'] ?? (segment === '*' ? true : undefined));
    }
    if (at === undefined) {
      return index;
    }
  }
  return -1;
}

const isList = (tree: FieldTree): tree is readonly [FieldTree] => Array.isArray(tree);

/** Paths of fields by the kind of a machine's object: `KubeadmConfig` also stands for its template. */
type PathsByKind = { readonly [kind: string]: readonly string[] };

/** Fields that an extension can change in place, as paths: `spec.files`, `spec.disks[*].size`, `spec.nodeLabels.*`. */
export interface UpdatableFields {
  readonly machine?: readonly string[] | undefined;
  readonly infrastructureMachine?: PathsByKind | undefined;
  readonly bootstrapConfig?: PathsByKind | undefined;
}

type MachinePatches = Pick<
  CanUpdateMachineResponse,
  'machinePatch' | 'infrastructureMachinePatch' | 'bootstrapConfigPatch'
>;
type MachineSetPatches = Pick<
  CanUpdateMachineSetResponse,
  'machineSetPatch' | 'infrastructureMachineTemplatePatch' | 'bootstrapConfigTemplatePatch'
>;

/** Answers CanUpdateMachine and CanUpdateMachineSet from one list of fields. */
export interface InPlaceChanges {
  /** The patches for `answer.done(…)` of CanUpdateMachine, which set the fields that the extension can change. */
  machinePatches(request: CanUpdateMachineRequest): MachinePatches;
  /** The same for CanUpdateMachineSet, by the fields of its templates. */
  machineSetPatches(request: CanUpdateMachineSetRequest): MachineSetPatches;
  /** The desired values of these fields, of a Machine. */
  desiredValues(desired: UpdateMachineRequest['desired']): unknown[];
}

type Segments = readonly (string | number)[];
type FieldsByKind = ReadonlyMap<string, readonly Segments[]>;
/** Stands for all items of a list or all fields of an object. */
const wildcard = '*';

/** Fields of kinds, each by its served versions, as `template-types` writes them. */
export type KnownFields = Readonly<Record<string, readonly FieldTree[]>>;

/** The segments of a path below `spec`. @throws {TypeError} for a path that objects of a kind do not have. */
function checkedSegments(object: string, kind: string, path: string, known: readonly FieldTree[]): Segments {
  const segments = segmentsOf(path.replaceAll('[*]', '["*"]'));
  if (segments[0] !== 'spec' || segments.length === 1) {
    // Cluster API would drop such a change, and replace the machine as if the extension could not change it.
    throw new TypeError(
      `${object}: ${JSON.stringify(path)} is not in spec, and Cluster API uses nothing else: use a path such as spec.a`,
    );
  }
  const unknown = known.map((tree) => firstUnknown(tree, segments));
  if (!unknown.includes(-1)) {
    const segment = segments[Math.max(...unknown)];
    throw new TypeError(`${object}: ${JSON.stringify(path)} is not a field of a ${kind}: ${segment} is not known`);
  }
  return segments.slice(1);
}

/** @throws {TypeError} for kinds and paths that are not known. */
function parsed(object: keyof UpdatableFields, byKind: PathsByKind = {}, known?: KnownFields): FieldsByKind {
  return new Map(
    Object.entries(byKind).map(([kind, paths]) => {
      if (kind.endsWith('Template')) {
        throw new TypeError(`${object}: write ${kind.replace(/Template$/, '')}, which also stands for ${kind}`);
      }
      const versions = known === undefined ? [true as const] : own(known, kind);
      if (versions === undefined) {
        const kinds = Object.keys(known as KnownFields).join(', ');
        throw new TypeError(
          `${object}: ${kind} is not known; it must be one of ${kinds}: template-types adds those of other CRDs`,
        );
      }
      return [kind, paths.map((path) => checkedSegments(object, kind, path, versions))];
    }),
  );
}

const childrenOf = (value: Json | undefined): Segments =>
  Array.isArray(value) ? [...value.keys()] : isJsonObject(value) ? Object.keys(value) : [];

/** The paths for which a path with wildcards stands: items that both lists have, and fields of either object. */
function expanded(segments: Segments, current: Json | undefined, desired: Json | undefined): Segments[] {
  const [segment, ...rest] = segments;
  if (segment === undefined) {
    return [[]];
  }
  const [before, after] = [childrenOf(current), childrenOf(desired)];
  const matching =
    segment !== wildcard
      ? [segment]
      : Array.isArray(current)
        ? before.filter((index) => after.includes(index))
        : [...new Set([...before, ...after])];
  return matching.flatMap((name) =>
    expanded(rest, step(current, name), step(desired, name)).map((inner) => [name, ...inner]),
  );
}

/** The patch that sets these fields below a prefix to their desired values; undefined if nothing would change. */
function patchOf(current: unknown, desired: unknown, prefix: Segments, fields: readonly Segments[]): Patch | undefined {
  if (!isJsonObject(current) || !isJsonObject(desired)) {
    return undefined;
  }
  const changed: JsonObject = copyOf(current);
  for (const path of fields.flatMap((field) => expanded([...prefix, ...field], current, desired))) {
    setAt(changed, path, path.reduce<Json | undefined>(step, desired), path.join('.'));
  }
  const patch = jsonPatchOf(current, changed);
  return patch.length === 0 ? undefined : { patchType: 'JSONPatch', patch: encodedPatch(patch) };
}

const ofMachine = ['machine', 'infrastructureMachine', 'bootstrapConfig'] as const;
const ofMachineSet = ['machineSet', 'infrastructureMachineTemplate', 'bootstrapConfigTemplate'] as const;

/**
 * The fields that an extension can change in place:
 *
 * ```ts
 * const changes = defineInPlaceChanges({
 *   machine: ['spec.version'],
 *   bootstrapConfig: { KubeadmConfig: ['spec.files'] },
 * });
 * ```
 *
 * @param known the fields of providers' kinds, which `template-types` writes. Without it, their paths are not checked, and
 *   Cluster API replaces machines as if the extension could not change a misspelt field.
 * @throws {TypeError} for a path that is not in `spec`, which is all that Cluster API takes, or not of Machines or known kinds.
 */
export function defineInPlaceChanges(fields: UpdatableFields, known?: KnownFields): InPlaceChanges {
  const machine = parsed(
    'machine',
    { Machine: fields.machine ?? [] },
    { Machine: [fieldTree({ $ref: '#/components/schemas/sigs.k8s.io.cluster-api.api.core.v1beta2.Machine' })] },
  );
  const byKind = [
    parsed('infrastructureMachine', fields.infrastructureMachine, known),
    parsed('bootstrapConfig', fields.bootstrapConfig, known),
  ];

  const fieldsIn = (objects: JsonObject, [first, ...others]: readonly string[]): [string, readonly Segments[]][] => [
    [first as string, machine.get('Machine') ?? []],
    ...others.map((name, index): [string, readonly Segments[]] => [
      name,
      byKind[index]?.get(textAt(objects, name, 'kind').replace(/Template$/, '')) ?? [],
    ]),
  ];

  function patchesOf<T>(request: { current: object; desired: object }, names: readonly string[], prefix: Segments): T {
    const [current, desired] = [request.current as JsonObject, request.desired as JsonObject];
    const patches = fieldsIn(desired, names).map(([name, paths]): [string, Patch | undefined] => [
      `${name}Patch`,
      patchOf(current[name], desired[name], prefix, paths),
    ]);
    return Object.fromEntries(patches.filter(([, patch]) => patch !== undefined)) as T;
  }

  return {
    machinePatches: (request) => patchesOf(request, ofMachine, ['spec']),
    machineSetPatches: (request) => patchesOf(request, ofMachineSet, ['spec', 'template', 'spec']),
    desiredValues(desired) {
      const objects = desired as unknown as JsonObject;
      return fieldsIn(objects, ofMachine).flatMap(([name, paths]) =>
        paths
          .flatMap((path) => expanded(['spec', ...path], objects[name], objects[name]))
          .map((path) => path.reduce<Json | undefined>(step, objects[name]) ?? null),
      );
    },
  };
}
