import { isJsonObject, itemsAt, type Json, own, setOwn, textAt } from '../../../kubernetes/index.ts';
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
type FieldValue<T, Path> = unknown extends KnownValue<T, Path> ? Json | object : KnownValue<T, Path>;

/** A path of fields of a type, or what is wrong with it. */
type CheckedPath<T, Path> = [KnownValue<T, Path>] extends [never]
  ? Problem<`${Path & string} is not a field of this object`>
  : Path;

const maxLength = 1024;

const path = /^(?:[^.[\]"]+|\[\d{1,9}\]|\["[^"]*"\])(?:\.[^.[\]"]+|\[\d{1,9}\]|\["[^"]*"\])*$/;
const segment = /\[(\d{1,9})\]|\["([^"]*)"\]|([^.[\]"]+)/g;

/** The segments of a path such as `spec.disks[0].size` or `labels["example.com/tier"]`. @throws {SyntaxError} */
export function segmentsOf(text: string): (string | number)[] {
  const segments =
    text.length <= maxLength && path.test(text)
      ? [...text.matchAll(segment)].map(([, index, quoted, name]) => quoted ?? name ?? Number(index))
      : [];
  if (segments.length === 0 || segments.includes('__proto__')) {
    throw new SyntaxError(`${JSON.stringify(text.slice(0, 100))} is not a path such as a.b[0].c or a["b.c"]`);
  }
  return segments;
}

/** The value at one segment of a path; undefined if it is absent. */
export function step(value: Json | undefined, segment: string | number): Json | undefined {
  if (typeof segment === 'number') {
    return Array.isArray(value) ? value[segment] : undefined;
  }
  return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
}

/** The value at a path in JSON of any type; undefined when it is absent. @throws {SyntaxError} for text that is no path. */
export function getField(object: unknown, path: string): Json | undefined {
  return segmentsOf(path).reduce<Json | undefined>(step, object as Json);
}

/**
 * Sets the value at a path, creating missing objects on the way; undefined removes it. If it throws, nothing has changed.
 *
 * @param path that does not compile if the object's type has no such field, as the types that `template-types` writes.
 * @param value of the field's type; any JSON where that is not known.
 * @throws {RangeError} when something on the way is not an object, or an index is beyond the end of a list.
 */
export function setField<T extends object, const Path extends string>(
  object: T,
  path: Path & CheckedPath<T, Path>,
  value: FieldValue<T, Path> | undefined,
): void {
  setAt(object as unknown as Json, segmentsOf(path), value as Json | undefined, path);
}

/** As `setField`, by the segments of a path. */
export function setAt(
  object: Json,
  segments: readonly (string | number)[],
  value: Json | undefined,
  path: string,
): void {
  let holder = object;
  for (const [index, segment] of segments.entries()) {
    const next = step(holder, segment);
    const isLast = index === segments.length - 1;
    if (isLast || next === undefined || next === null) {
      if (value !== undefined) {
        put(holder, segment, nested(segments.slice(index + 1), value, path), path);
      } else if (isLast) {
        remove(holder, segment);
      }
      return;
    }
    holder = next;
  }
}

/** A value below objects and lists that do not exist yet. */
function nested(segments: readonly (string | number)[], value: Json, path: string): Json {
  return segments.reduceRight<Json>((inner, segment) => {
    const holder: Json = typeof segment === 'number' ? [] : {};
    put(holder, segment, inner, path);
    return holder;
  }, value);
}

function put(holder: Json, segment: string | number, value: Json, path: string): void {
  if (Array.isArray(holder) && typeof segment === 'number' && segment <= holder.length) {
    holder[segment] = value;
  } else if (isJsonObject(holder) && typeof segment === 'string') {
    setOwn(holder, segment, value);
  } else {
    throw new RangeError(`${path}: ${JSON.stringify(segment)} cannot be set: there is no object or list that takes it`);
  }
}

function remove(holder: Json, segment: string | number): void {
  if (Array.isArray(holder) && typeof segment === 'number') {
    holder.splice(segment, 1);
  } else if (isJsonObject(holder)) {
    delete holder[segment];
  }
}

/**
 * Sets arguments of a component, such as `extraArgs` of kubeadm: a map in v1beta1, a list with name and value in v1beta2.
 * The object's `apiVersion` decides where there are none yet. Others keep their values and their order; one that a list has
 * several times is there once afterwards.
 *
 * @param path of the arguments: `spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs`.
 * @throws {RangeError} when something on the way is not an object, as `setField`.
 */
export function setArguments<T extends { readonly apiVersion: string }, const Path extends string>(
  object: T,
  path: Path & CheckedPath<T, Path>,
  values: Readonly<Record<string, string>>,
): void {
  const current = getField(object, path);
  if (isJsonObject(current) || (!Array.isArray(current) && object.apiVersion.endsWith('/v1beta1'))) {
    setField(object, path as string, { ...(isJsonObject(current) && current), ...values });
    return;
  }
  const list = itemsAt(current);
  const present = list.map((item) => textAt(item, 'name'));
  const kept = list.flatMap((item, index) => {
    const name = present[index] as string;
    const value = own(values, name);
    return value === undefined ? [item] : present.indexOf(name) === index ? [{ name, value }] : [];
  });
  const added = Object.entries(values).filter(([name]) => !present.includes(name));
  setField(object, path as string, [...kept, ...added.map(([name, value]) => ({ name, value }))]);
}
