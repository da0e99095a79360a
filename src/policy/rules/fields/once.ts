import type { ExtensionConfig } from '../../../extensionconfig/index.ts';

/**
 * The same function, computed once for each object, which must not change meanwhile: the rules that need its result run
 * one after the other on the same object.
 */
export function oncePerObject<T>(compute: (object: ExtensionConfig) => T): (object: ExtensionConfig) => T {
  let last: { object: ExtensionConfig; value: T } | undefined;
  return (object) => {
    if (last?.object !== object) {
      last = { object, value: compute(object) };
    }
    return last.value;
  };
}
