import { isJsonObject, itemsAt, type Json, textAt } from '../../../kubernetes/index.ts';
import type { CheckedPath } from './checked-path.ts';
import { getField, setField } from './json-path.ts';

/**
 * Sets arguments of a component, such as `extraArgs` of kubeadm, whatever form the object's version has: a map in
 * v1beta1, a list with name and value in v1beta2. Others keep their values and their order; one that a list has several
 * times is there once afterwards.
 *
 * @param object a template or another object with `apiVersion`, which decides the form where there are no arguments yet.
 * @param path of the arguments: `spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs`.
 * @throws {RangeError} when something on the way is not an object, as `setField`.
 */
export function setArguments<T extends { readonly apiVersion: string }, const Path extends string>(
  object: T,
  path: Path & CheckedPath<'this object', T, Path>,
  values: Readonly<Record<string, string>>,
): void {
  const current = getField(object, path);
  if (isJsonObject(current) || (!Array.isArray(current) && object.apiVersion.endsWith('/v1beta1'))) {
    setField(object, path as string, { ...(isJsonObject(current) && current), ...values });
    return;
  }
  let list = itemsAt(current);
  for (const [name, value] of Object.entries(values)) {
    const isOther = (item: Json) => textAt(item, 'name') !== name;
    const index = list.findIndex((item) => !isOther(item));
    const at = index === -1 ? list.length : index;
    list = [...list.slice(0, at), { name, value }, ...list.slice(at + 1).filter(isOther)];
  }
  setField(object, path as string, list);
}
