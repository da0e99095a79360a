import type { Json } from '../../../kubernetes/index.ts';
import type { Problem } from '../handlers/handler.ts';

/** The type below one name or index of a path, in any of the types; `never` if there is nothing. */
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

/** `a[*].b[0]` as `a.*.b.0`. */
type Dotted<Path extends string> = Path extends `${infer Before}[${infer Inner}]${infer After}`
  ? Dotted<`${Before}.${Inner}${After}`>
  : Path;

/** The value at a path; `never` if no object of the type has it. */
type ValueAt<T, Path extends string> = Path extends `${infer First}.${infer Rest}`
  ? ValueAt<Child<T, First>, Rest>
  : Child<T, Path>;

/** The value at a path, as far as it can be told: of literals without names in quotes, in objects of a known type. */
type KnownValue<T, Path> = [T] extends [never]
  ? unknown
  : Path extends `${string}"${string}`
    ? unknown
    : Path extends string
      ? string extends Path
        ? unknown
        : ValueAt<T, Dotted<Path>>
      : unknown;

/** The type of values that a field may be set to: any JSON where the type or the path does not tell. */
export type FieldValue<T, Path> = unknown extends KnownValue<T, Path> ? Json | object : KnownValue<T, Path>;

/** A path of fields of a type, or what is wrong with it. */
export type CheckedPath<T, Path> = [KnownValue<T, Path>] extends [never]
  ? Problem<`${Path & string} is not a field of this object`>
  : Path;
