import {
  copyOf,
  encodedPatch,
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonPatchOf,
  own,
  textAt,
} from '../../../kubernetes/index.ts';
import {
  type CanUpdateMachineRequest,
  type CanUpdateMachineResponse,
  type CanUpdateMachineSetRequest,
  type CanUpdateMachineSetResponse,
  hooks,
  type Patch,
  type UpdateMachineRequest,
} from '../../../runtimehooks/index.ts';
import { componentOf, componentsOf } from '../../../runtimehooks/messages/index.ts';
import type { Only } from '../topology/define-variables.ts';
import type { TemplateKinds } from '../topology/walk.ts';
import type { CheckedPath } from './checked-path.ts';
import { type FieldTree, fieldTree, firstUnknown } from './field-tree.ts';
import { segmentsOf, setAt, step } from './json-path.ts';

/** Paths of fields by the kind of a machine's object: `KubeadmConfig` also stands for its template. */
type PathsByKind = { readonly [kind: string]: readonly string[] };

/**
 * The fields that an extension can change in place, as paths below `spec`: `spec.files`, `spec.disks[*].size`,
 * `spec.nodeLabels.*`.
 */
export interface UpdatableFields {
  readonly machine?: readonly string[] | undefined;
  readonly infrastructureMachine?: PathsByKind | undefined;
  readonly bootstrapConfig?: PathsByKind | undefined;
}

type CheckedPaths<Kind, Spec, Paths> = {
  readonly [Index in keyof Paths]: CheckedPath<`a ${Kind & string}`, { spec: Spec }, Paths[Index]>;
};

type SpecIn<Template> = Template extends { spec: { template?: { spec?: infer Spec } } } ? Spec : unknown;
/** The specs of a kind in all versions of its template, as `template-types` declares them; else unknown. */
type SpecOf<Kind> = `${Kind & string}Template` extends infer Name
  ? Name extends keyof TemplateKinds
    ? SpecIn<TemplateKinds[Name][keyof TemplateKinds[Name]]>
    : unknown
  : never;

type CheckedKinds<ByKind> = { readonly [Kind in keyof ByKind]: CheckedPaths<Kind, SpecOf<Kind>, ByKind[Kind]> };

/** Fields of `UpdatableFields` whose paths, where they are literals, are those of Machines and of declared templates. */
type CheckedFields<Fields, Known> = Only<Fields, Known> & {
  readonly [Object in keyof Fields]: Object extends 'machine'
    ? CheckedPaths<'Machine', CanUpdateMachineRequest['desired']['machine']['spec'], Fields[Object]>
    : CheckedKinds<Fields[Object]>;
};

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
  /**
   * The patches for `answer.done(…)` of CanUpdateMachine: they set the fields that the extension can change to their
   * desired values. Cluster API decides whether that covers all differences; if not, it replaces the machine.
   */
  machinePatches(request: CanUpdateMachineRequest): MachinePatches;
  /** The patches for `answer.done(…)` of CanUpdateMachineSet, by the same fields of its templates. */
  machineSetPatches(request: CanUpdateMachineSetRequest): MachineSetPatches;
  /** The desired values of these fields, of a Machine. */
  desiredValues(desired: UpdateMachineRequest['desired']): unknown[];
}

type Segments = readonly (string | number)[];
type FieldsByKind = ReadonlyMap<string, readonly Segments[]>;
/** Stands for all items of a list or all fields of an object. */
const wildcard = '*';

/** Fields of kinds, each by its served versions, as `extensionconfig-webhook template-types` writes them. */
export type KnownFields = Readonly<Record<string, readonly FieldTree[]>>;

function fieldsOfMachine(): FieldTree {
  const components = componentsOf([hooks.CanUpdateMachine]) as ReadonlyMap<string, unknown>;
  const [, schema] = [...components].find(([name]) => name.endsWith('.Machine')) as [string, Json];
  return fieldTree(schema, (one) => {
    const reference = one.$ref ?? fieldAt(one, 'allOf', 0, '$ref');
    return typeof reference === 'string' ? (components.get(componentOf(reference)) as Json) : one;
  });
}

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

/** Kinds of any fields, as without CustomResourceDefinitions. */
const anyFields: readonly FieldTree[] = [true];

/** @throws {TypeError} for kinds and paths that are not known. */
function parsed(object: keyof UpdatableFields, byKind: PathsByKind = {}, known?: KnownFields): FieldsByKind {
  return new Map(
    Object.entries(byKind).map(([kind, paths]) => {
      if (kind.endsWith('Template')) {
        throw new TypeError(`${object}: write ${kind.replace(/Template$/, '')}, which also stands for ${kind}`);
      }
      const versions = known === undefined ? anyFields : own(known, kind);
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
 * Paths that Machines do not have, or templates whose types `extensionconfig-webhook template-types` wrote, do not compile.
 *
 * @param known the fields of providers' kinds, which `template-types` writes, too. Without it, their paths are not checked
 *   when the program starts: Cluster API replaces machines as if the extension could not change a misspelt field.
 * @throws {TypeError} for a path that is not in `spec`, which is all that Cluster API takes, and for one that Machines or
 *   the known kinds do not have.
 */
export function defineInPlaceChanges<const Fields extends UpdatableFields>(
  fields: Fields & CheckedFields<Fields, keyof UpdatableFields>,
  known?: KnownFields,
): InPlaceChanges {
  const { machine = [], infrastructureMachine, bootstrapConfig }: UpdatableFields = fields;
  const ofMachine = parsed('machine', { Machine: machine }, { Machine: [fieldsOfMachine()] });
  const ofInfrastructure = parsed('infrastructureMachine', infrastructureMachine, known);
  const ofBootstrap = parsed('bootstrapConfig', bootstrapConfig, known);
  const fieldsOf = (byKind: FieldsByKind, object: Json | undefined) =>
    byKind.get(textAt(object, 'kind').replace(/Template$/, '')) ?? [];

  /** The patches of objects that a request has as `current` and `desired`: a machine's, and those of its kinds. */
  function patchesOf<T>(
    { current, desired }: { current: object; desired: object },
    prefix: Segments,
    [ofMachines, ofInfrastructureMachines, ofBootstrapConfigs]: readonly [string, string, string],
  ): T {
    const [before, after] = [current as JsonObject, desired as JsonObject];
    const patchesByName = {
      [ofMachines]: ofMachine.get('Machine') as readonly Segments[],
      [ofInfrastructureMachines]: fieldsOf(ofInfrastructure, after[ofInfrastructureMachines]),
      [ofBootstrapConfigs]: fieldsOf(ofBootstrap, after[ofBootstrapConfigs]),
    };
    const patches = Object.entries(patchesByName).map(([name, paths]): [string, Patch | undefined] => [
      `${name}Patch`,
      patchOf(before[name], after[name], prefix, paths),
    ]);
    return Object.fromEntries(patches.filter(([, patch]) => patch !== undefined)) as T;
  }

  return {
    desiredValues({ machine: desiredMachine, infrastructureMachine: infrastructure, bootstrapConfig: bootstrap }) {
      const objects: [unknown, readonly Segments[]][] = [
        [desiredMachine, ofMachine.get('Machine') ?? []],
        [infrastructure, fieldsOf(ofInfrastructure, infrastructure as Json)],
        [bootstrap, fieldsOf(ofBootstrap, bootstrap as Json | undefined)],
      ];
      return objects.flatMap(([object, fields]) =>
        fields
          .flatMap((field) => expanded(['spec', ...field], object as Json, object as Json))
          .map((path) => path.reduce<Json | undefined>(step, object as Json) ?? null),
      );
    },
    machinePatches: (request) => patchesOf(request, ['spec'], ['machine', 'infrastructureMachine', 'bootstrapConfig']),
    machineSetPatches: (request) =>
      patchesOf(
        request,
        ['spec', 'template', 'spec'],
        ['machineSet', 'infrastructureMachineTemplate', 'bootstrapConfigTemplate'],
      ),
  };
}
