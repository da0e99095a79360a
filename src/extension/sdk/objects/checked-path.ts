import type { Json } from '../../../kubernetes/index.ts';
import type { Problem } from '../handlers/handler.ts';

/** What is below one name or index of a path, in any of the types; `never` if there is nothing. */
type Child<T, Segment extends string> = string extends Segment
  ? unknown
  : unknown extends T
    ? unknown
    : T extends readonly (infer Item)[]
      ? Segment extends '*' | `${number}`
        ? Item
        : never
      : T extends object
        ? [keyof T] extends [never]
          ? unknown
          : Segment extends keyof T
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

type ValueAt<T, Path extends string> = Path extends `${infer First}.${infer Rest}`
  ? ValueAt<Child<T, First>, Rest>
  : Child<T, Path>;

/** What a field of a type may be set to: any JSON where the type or the path does not tell. */
export type FieldValue<T, Path extends string> = [T] extends [never]
  ? Json | object
  : string extends Path
    ? Json | object
    : Path extends `${string}"${string}`
      ? Json | object
      : unknown extends ValueAt<T, Dotted<Path>>
        ? Json | object
        : ValueAt<T, Dotted<Path>>;

/** A path of fields of a type, or what is wrong with it. Only literals without names in quotes are checked. */
export type CheckedPath<Name extends string, T, Path> = [T] extends [never]
  ? Path
  : Path extends `${string}"${string}`
    ? Path
    : Path extends string
      ? string extends Path
        ? Path
        : [UnknownSegment<T, Dotted<Path>>] extends [never]
          ? Path
          : Problem<`${Path} is not a field of ${Name}: ${UnknownSegment<T, Dotted<Path>>} is not known`>
      : Path;
