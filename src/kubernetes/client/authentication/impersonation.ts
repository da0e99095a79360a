import { bytesOf, percentEncoded } from '../../objects/byte-text.ts';

/** Whether a value from outside is a list of strings. */
export const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** What a kubeconfig says of whom to act as. */
export interface Impersonation {
  impersonateUser?: string;
  /** The client library drops these (as-groups, as-uid, as-user-extra). */
  groups?: unknown;
  uid?: unknown;
  extra?: unknown;
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
  impersonateUser,
  groups,
  uid,
  extra,
}: Impersonation): Record<string, string | string[]> {
  const user: unknown = impersonateUser ?? '';
  if (typeof user !== 'string') {
    throw new Error('as must be a string');
  }
  const more: Record<string, string | string[]> = {};
  if (groups !== undefined && groups !== null) {
    if (!isTextList(groups)) {
      throw new Error('as-groups must be a list of names');
    }
    if (groups.length > 0) {
      more['Impersonate-Group'] = groups.map(bytesOf);
    }
  }
  if (uid !== undefined && uid !== null && uid !== '') {
    if (typeof uid !== 'string') {
      throw new Error('as-uid must be a string');
    }
    more['Impersonate-Uid'] = bytesOf(uid);
  }
  for (const [key, values] of Object.entries(extra ?? {})) {
    if (!isTextList(values)) {
      throw new Error(`as-user-extra.${key} must be a list of strings`);
    }
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
