import { isJsonObject, type Json, type JsonObject, setOwn } from '../../kubernetes/index.ts';

/** The list of environment variables of kubeadm: an empty value is the same as none there, and of an argument it is not. */
const variables = 'extraEnvs';
/** Fields of which the empty object is a value of its own. */
const mayBeEmptyObject = new Set(['controlPlane', 'valueFrom']);
/** Fields of which the empty list is a value of its own: kubeadm adds no taints then. */
const mayBeEmptyList = new Set(['taints']);
/** Numbers of which 0 is the same as none. */
const zeroIsNone = new Set([
  'bindPort',
  'certificateValidityPeriodDays',
  'caCertificateValidityPeriodDays',
  'percentage',
]);

const isNothing = (name: string, value: Json, list: string): boolean =>
  value === null ||
  (value === '' && (name !== 'value' || list === variables)) ||
  (value === 0 && zeroIsNone.has(name)) ||
  (Array.isArray(value) && value.length === 0 && !mayBeEmptyList.has(name)) ||
  (isJsonObject(value) && Object.keys(value).length === 0 && !mayBeEmptyObject.has(name));

/** A value without what Go's types do not tell from absent fields: null, empty texts, lists and objects. `list`: its field. */
export function withoutEmpty(value: Json, list = ''): Json {
  if (Array.isArray(value)) {
    return value.map((item) => withoutEmpty(item, list));
  }
  if (!isJsonObject(value)) {
    return value;
  }
  const kept: JsonObject = {};
  for (const [name, field] of Object.entries(value)) {
    const rest = withoutEmpty(field, name);
    if (!isNothing(name, rest, list)) {
      setOwn(kept, name, rest);
    }
  }
  return kept;
}
