/**
 * Whether a query parameter is set as a flag: any value counts except `false` and `0` (apimachinery,
 * Convert_Slice_string_To_bool). Python clients write `True`.
 */
export function isOn(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}
