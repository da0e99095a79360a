import type { CanUpdateMachineRequest } from '../../../runtimehooks/index.ts';
import type { Problem } from '../handlers/handler.ts';
import type { Only } from '../topology/define-variables.ts';
import type { TemplateKinds } from '../topology/walk.ts';

/** What is below one name or index of a path, in any of the types; `never` if there is nothing. */
type Child<T, Segment extends string> = unknown extends T
  ? unknown
  : T extends readonly (infer Item)[]
    ? Segment extends '*' | `${number}`
      ? Item
      : never
    : T extends object
      ? Segment extends keyof T
        ? T[Segment]
        : string extends keyof T
          ? T[keyof T]
          : Segment extends '*'
            ? T[keyof T]
            : never
      : never;

/** The first segment of a path that no object of this type has; `never` if all are known. */
type UnknownSegment<T, Path extends string> = Path extends `${infer First}.${infer Rest}`
  ? [Child<T, First>] extends [never]
    ? First
    : UnknownSegment<Child<T, First>, Rest>
  : [Child<T, Path>] extends [never]
    ? Path
    : never;

/** `a[*].b[0]` as `a.*.b.0`. */
type Dotted<Path extends string> = Path extends `${infer Before}[${infer Inner}]${infer After}`
  ? Dotted<`${Before}.${Inner}${After}`>
  : Path;

/** A path, or what is wrong with it. Those with names in quotes are checked when the program starts. */
type CheckedPath<Kind extends string, Spec, Path> = Path extends `${string}"${string}`
  ? Path
  : Path extends string
    ? string extends Path
      ? Path
      : [UnknownSegment<{ spec: Spec }, Dotted<Path>>] extends [never]
        ? Path
        : Problem<`${Path} is not a field of a ${Kind}: ${UnknownSegment<{ spec: Spec }, Dotted<Path>>} is not known`>
    : Path;

type CheckedPaths<Kind, Spec, Paths> = {
  readonly [Index in keyof Paths]: CheckedPath<Kind & string, Spec, Paths[Index]>;
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
export type CheckedFields<Fields, Known> = Only<Fields, Known> & {
  readonly [Object in keyof Fields]: Object extends 'machine'
    ? CheckedPaths<'Machine', CanUpdateMachineRequest['desired']['machine']['spec'], Fields[Object]>
    : CheckedKinds<Fields[Object]>;
};
