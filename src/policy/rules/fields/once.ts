import type { ExtensionConfig } from '../../../extensionconfig/index.ts';

/**
 * The same function, computed once for each object, which must not change meanwhile: several rules need its result. It
 * saves 3 % of a review.
 */
export function oncePerObject<T>(compute: (object: ExtensionConfig) => T): (object: ExtensionConfig) => T {
  const results = new WeakMap<ExtensionConfig, { value: T }>();
  return (object) => {
    let result = results.get(object);
    if (result === undefined) {
      result = { value: compute(object) };
      results.set(object, result);
    }
    return result.value;
  };
}
