/** The resource that a path under /api or /apis names. */
interface ApiPath {
  group: string;
  version: string;
  plural: string;
  namespace: string;
  name: string;
  subresource: string;
}

/**
 * Parses `/api/v1/…` and `/apis/GROUP/VERSION/…`, with or without `namespaces/NAMESPACE`.
 *
 * @returns undefined for every other path, and for a path with an invalid escape.
 */
export function parseApiPath(pathname: string): ApiPath | undefined {
  let parts: string[];
  try {
    parts = pathname.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
  if (parts.at(-1) === '') {
    parts.pop();
  }
  const root = parts.shift();
  if (root !== 'api' && root !== 'apis') {
    return undefined;
  }
  const group = root === 'api' ? '' : (parts.shift() ?? '');
  const version = parts.shift() ?? '';
  let namespace = '';
  // `namespaces/x` and `namespaces/x/status` refer to the namespace itself.
  if (
    parts[0] === 'namespaces' &&
    parts.length > 2 &&
    !(parts.length === 3 && ['status', 'finalize'].includes(parts[2] ?? ''))
  ) {
    namespace = parts[1] ?? '';
    parts = parts.slice(2);
  }
  const [plural = '', name = '', subresource = '', ...rest] = parts;
  return version === '' || plural === '' || rest.length > 0
    ? undefined
    : { group, version, plural, namespace, name, subresource };
}
