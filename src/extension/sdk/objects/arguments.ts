import { isJsonObject, type Json } from '../../../kubernetes/index.ts';
import type { CheckedPath } from './checked-path.ts';
import { getField, setField } from './json-path.ts';

/**
 * Sets arguments of a component, such as `extraArgs` of kubeadm, whatever form the object's version has: a map in
 * v1beta1, a list with name and value in v1beta2. Others keep their values and their order.
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
  if (isJsonObject(current) || (current === undefined && object.apiVersion.endsWith('/v1beta1'))) {
    setField(object, path as string, { ...current, ...values });
    return;
  }
  const list: Json[] = Array.isArray(current) ? [...current] : [];
  for (const [name, value] of Object.entries(values)) {
    const index = list.findIndex((item) => isJsonObject(item) && item.name === name);
    list.splice(index === -1 ? list.length : index, 1, { name, value });
  }
  setField(object, path as string, list);
}
