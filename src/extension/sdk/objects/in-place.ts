import {
  copyOf,
  encodedPatch,
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonPatchOf,
} from '../../../kubernetes/index.ts';
import {
  type CanUpdateMachineRequest,
  type CanUpdateMachineResponse,
  type CanUpdateMachineSetRequest,
  type CanUpdateMachineSetResponse,
  hooks,
  type Patch,
} from '../../../runtimehooks/index.ts';
import { componentOf, componentsOf } from '../../../runtimehooks/messages/index.ts';
import { type FieldTree, fieldTree, firstUnknown } from './field-tree.ts';
import { segmentsOf, setAt, step } from './json-path.ts';

/** Paths of fields: of all kinds, or by the kind of the machine's object (`KubeadmConfig`, also for its template). */
type FieldsByKind = readonly string[] | { readonly [kind: string]: readonly string[] };

/**
 * The fields that an extension can change in place, as paths below `spec`: `spec.files`, `spec.disks[*].size`,
 * `spec.nodeLabels.*`.
 */
export interface UpdatableFields {
  readonly machine?: readonly string[] | undefined;
  readonly infrastructureMachine?: FieldsByKind | undefined;
  readonly bootstrapConfig?: FieldsByKind | undefined;
}

/** The fields of a CanUpdateMachine response, without its envelope. */
type MachinePatches = Pick<
  CanUpdateMachineResponse,
  'machinePatch' | 'infrastructureMachinePatch' | 'bootstrapConfigPatch'
>;
/** The fields of a CanUpdateMachineSet response, without its envelope. */
type MachineSetPatches = Pick<
  CanUpdateMachineSetResponse,
  'machineSetPatch' | 'infrastructureMachineTemplatePatch' | 'bootstrapConfigTemplatePatch'
>;

/** Answers CanUpdateMachine and CanUpdateMachineSet from one list of fields. */
export interface InPlaceChanges {
  /**
   * The patches for `answer.done(…)` of CanUpdateMachine: they set the fields that the extension can change to their
   * desired values. Cluster API decides whether that covers all differences; if not, it replaces the machine.
   */
  machinePatches(request: CanUpdateMachineRequest): MachinePatches;
  /** The patches for `answer.done(…)` of CanUpdateMachineSet, by the same fields of its templates. */
  machineSetPatches(request: CanUpdateMachineSetRequest): MachineSetPatches;
}

type Segments = readonly (string | number)[];
/** Stands for all items of a list or all fields of an object. */
const wildcard = '*';

/** The segments of a path below `spec`, without it. */
function segmentsBelowSpec(object: string, path: string): Segments {
  const [first, ...rest] = segmentsOf(path.replaceAll('[*]', '["*"]'));
  if (first !== 'spec' || rest.length === 0) {
    // Cluster API would drop such a change, and replace the machine as if the extension could not change it.
    throw new TypeError(
      `${object}: ${JSON.stringify(path)} is not in spec, and Cluster API uses nothing else: use a path such as spec.a`,
    );
  }
  return rest;
}

/** Fields of kinds, each by its served versions, as `extensionconfig-webhook template-types` writes them. */
export type KnownFields = Readonly<Record<string, readonly FieldTree[]>>;

/** The fields of a Machine. */
function fieldsOfMachine(): FieldTree {
  const components = componentsOf([hooks.CanUpdateMachine]) as ReadonlyMap<string, unknown>;
  const [, schema] = [...components].find(([name]) => name.endsWith('.Machine')) ?? [];
  return fieldTree(schema as Json, (one) => {
    const reference = one.$ref ?? fieldAt(one, 'allOf', 0, '$ref');
    return typeof reference === 'string' ? (components.get(componentOf(reference)) as Json) : one;
  });
}

/** @throws {TypeError} for a path that objects of a kind do not have. */
function checkPath(object: string, kind: string, path: string, known: readonly FieldTree[]): void {
  const segments = ['spec', ...segmentsBelowSpec(object, path)];
  const unknown = known.map((tree) => firstUnknown(tree, segments));
  if (!unknown.includes(-1)) {
    const segment = segments[Math.max(...unknown)];
    throw new TypeError(`${object}: ${JSON.stringify(path)} is not a field of a ${kind}: ${segment} is not known`);
  }
}

/** @throws {TypeError} for kinds and paths that are not known. */
function checkPaths(object: string, fields: FieldsByKind = [], known: KnownFields): void {
  for (const [kind, paths] of Object.entries(Array.isArray(fields) ? {} : fields)) {
    const versions = Object.hasOwn(known, kind) ? known[kind] : undefined;
    if (versions === undefined) {
      const kinds = Object.keys(known).join(', ');
      throw new TypeError(
        `${object}: ${kind} is not known; it must be one of ${kinds}: template-types adds those of other CRDs`,
      );
    }
    for (const path of paths as readonly string[]) {
      checkPath(object, kind, path, versions);
    }
  }
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

/** The fields of an object, by its kind or that of its template. */
function fieldsOf(byKind: ReadonlyMap<string, readonly Segments[]>, object: unknown): readonly Segments[] {
  const kind = isJsonObject(object) && typeof object.kind === 'string' ? object.kind.replace(/Template$/, '') : '';
  return byKind.get(kind) ?? byKind.get(wildcard) ?? [];
}

function parsed(object: string, fields: FieldsByKind = []): Map<string, readonly Segments[]> {
  const byKind = Array.isArray(fields) ? { [wildcard]: fields } : fields;
  return new Map(
    Object.entries(byKind).map(([kind, paths]) => [
      kind,
      (paths as readonly string[]).map((path) => segmentsBelowSpec(object, path)),
    ]),
  );
}

/**
 * Defines the fields that an extension can change in place.
 *
 * ```ts
 * const changes = defineInPlaceChanges({
 *   machine: ['spec.version'],
 *   bootstrapConfig: { KubeadmConfig: ['spec.files'] },
 * });
 * ```
 *
 * @param known the fields of providers' kinds, which `extensionconfig-webhook template-types` writes. Without it, their
 *   paths are not checked: Cluster API replaces machines as if the extension could not change a misspelt field.
 * @throws {TypeError} for a path that is not in `spec`, which is all that Cluster API takes, and for one that Machines or
 *   the known kinds do not have.
 */
export function defineInPlaceChanges(fields: UpdatableFields, known?: KnownFields): InPlaceChanges {
  checkPaths('machine', { Machine: fields.machine ?? [] }, { Machine: [fieldsOfMachine()] });
  if (known !== undefined) {
    checkPaths('infrastructureMachine', fields.infrastructureMachine, known);
    checkPaths('bootstrapConfig', fields.bootstrapConfig, known);
  }
  const machine = parsed('machine', fields.machine);
  const infrastructureMachine = parsed('infrastructureMachine', fields.infrastructureMachine);
  const bootstrapConfig = parsed('bootstrapConfig', fields.bootstrapConfig);

  /** The patches of objects that a request has as `current` and `desired`. */
  function patchesOf<T>(
    { current, desired }: { current: object; desired: object },
    prefix: Segments,
    objects: Readonly<Record<string, ReadonlyMap<string, readonly Segments[]>>>,
  ): T {
    const patches = Object.entries(objects).map(([name, byKind]): [string, Patch | undefined] => {
      const [before, after] = [(current as JsonObject)[name], (desired as JsonObject)[name]];
      return [`${name}Patch`, patchOf(before, after, prefix, fieldsOf(byKind, after))];
    });
    return Object.fromEntries(patches.filter(([, patch]) => patch !== undefined)) as T;
  }

  return {
    machinePatches: (request) => patchesOf(request, ['spec'], { machine, infrastructureMachine, bootstrapConfig }),
    machineSetPatches: (request) =>
      patchesOf(request, ['spec', 'template', 'spec'], {
        machineSet: machine,
        infrastructureMachineTemplate: infrastructureMachine,
        bootstrapConfigTemplate: bootstrapConfig,
      }),
  };
}
