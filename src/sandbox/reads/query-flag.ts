/**
 * Whether a query parameter switches something on: any value does except `false` and `0`
 * (apimachinery, Convert_Slice_string_To_bool). Python writes `True`.
 */
export function isOn(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}
