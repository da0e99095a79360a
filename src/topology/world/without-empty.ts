import { isJsonObject, type Json } from '../../kubernetes/index.ts';

/** Fields of which the empty text is a value of its own. */
const mayBeEmptyText = new Set(['value']);
/** Fields of which the empty list is a value of its own: kubeadm adds no taints then. */
const mayBeEmptyList = new Set(['taints']);
/** Numbers of which 0 is the same as none. */
const zeroIsNone = new Set([
  'bindPort',
  'certificateValidityPeriodDays',
  'caCertificateValidityPeriodDays',
  'percentage',
]);

const isNothing = (name: string, value: Json): boolean =>
  value === null ||
  (value === '' && !mayBeEmptyText.has(name)) ||
  (value === 0 && zeroIsNone.has(name)) ||
  (Array.isArray(value) && value.length === 0 && !mayBeEmptyList.has(name)) ||
  (isJsonObject(value) && Object.keys(value).length === 0 && name !== 'controlPlane');

/**
 * A value without what Cluster API does not tell from absent fields: null, empty texts, lists and objects. Reading objects
 * into Go's types and writing them again removes the same.
 */
export function withoutEmpty(value: Json): Json {
  if (Array.isArray(value)) {
    return value.map(withoutEmpty);
  }
  if (!isJsonObject(value)) {
    return value;
  }
  const fields = Object.entries(value).map(([name, field]) => [name, withoutEmpty(field)] as const);
  return Object.fromEntries(fields.filter(([name, field]) => !isNothing(name, field)));
}
