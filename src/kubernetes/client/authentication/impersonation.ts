import { bytesOf, percentEncoded } from '../../objects/byte-text.ts';

/** What a kubeconfig says of whom to act as. */
interface Impersonation {
  user?: string | undefined;
  /** The client library drops these (as-groups, as-uid, as-user-extra). */
  groups?: string[] | undefined;
  uid?: string | undefined;
  extra?: Record<string, string[]> | undefined;
}

/** Encodes what a header's name must not have, as client-go does. */
const headerName = (key: string) => bytesOf(key).replace(/[^!#$&'*+.^_`|~0-9A-Za-z-]/g, percentEncoded);

/**
 * The headers for impersonating another user. The library sends only the user's name, and not as bytes. Empty fields count
 * as missing, as in kubectl.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 * @throws {Error} that says what is wrong.
 */
export function impersonationOf({
  user = '',
  groups = [],
  uid = '',
  extra = {},
}: Impersonation): Record<string, string | string[]> {
  const more: Record<string, string | string[]> = {
    ...(groups.length > 0 && { 'Impersonate-Group': groups.map(bytesOf) }),
    ...(uid !== '' && { 'Impersonate-Uid': bytesOf(uid) }),
  };
  for (const [key, values] of Object.entries(extra)) {
    more[`Impersonate-Extra-${headerName(key)}`] = values.map(bytesOf);
  }
  if (user !== '') {
    return { 'Impersonate-User': bytesOf(user), ...more };
  }
  if (Object.keys(more).length > 0) {
    throw new Error('as-groups, as-uid and as-user-extra need as, the name of the user to act as');
  }
  return more;
}
