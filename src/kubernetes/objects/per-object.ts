/** A function of an object that must not change: its result is computed once, and kept as long as the object. */
export function perObject<T extends object, Result>(compute: (object: T) => Result): (object: T) => Result {
  const results = new WeakMap<T, { result: Result }>();
  return (object) => {
    let known = results.get(object);
    if (known === undefined) {
      known = { result: compute(object) };
      results.set(object, known);
    }
    return known.result;
  };
}
