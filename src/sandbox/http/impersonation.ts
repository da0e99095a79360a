import type { IncomingMessage } from 'node:http';
import { badRequest, internalError } from '../resources/errors.ts';
import type { UserInfo } from '../resources/resource.ts';

const serviceAccount = /^system:serviceaccount:([^:]+):[^:]+$/;
const authenticated = 'system:authenticated';

/** The groups of a user when the request names only the user. */
function groupsOf(username: string): string[] {
  const namespace = serviceAccount.exec(username)?.[1];
  return namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    throw badRequest(`Impersonate-Extra-${key}: the key is not percent-encoded UTF-8`);
  }
}

/**
 * The user of a request: the one that its headers impersonate (`kubectl --as`, `--as-group`, `--as-uid`), else the
 * authenticated user, who may impersonate any user.
 *
 * @throws {RequestError} when groups, a uid or extra fields are given without a user.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
export function impersonated(request: Pick<IncomingMessage, 'headersDistinct'>, user: UserInfo): UserInfo {
  const headers = request.headersDistinct;
  const [username = ''] = headers['impersonate-user'] ?? [];
  const groupHeaders = headers['impersonate-group'] ?? [];
  const [uid] = headers['impersonate-uid'] ?? [];
  const prefix = 'impersonate-extra-';
  const extra = Object.entries(headers).flatMap(([name, values]): [string, string[]][] =>
    name.startsWith(prefix) && values !== undefined ? [[decoded(name.slice(prefix.length)), values]] : [],
  );
  if (username === '') {
    if (groupHeaders.length > 0 || uid !== undefined || extra.length > 0) {
      throw internalError('requested groups, a uid or extra fields without impersonating a user');
    }
    return user;
  }
  const groups = groupHeaders.length > 0 ? [...groupHeaders] : groupsOf(username);
  const isAnonymous = username === 'system:anonymous';
  const own = isAnonymous ? 'system:unauthenticated' : authenticated;
  return {
    username,
    groups: groups.includes(own) ? groups : [...groups, own],
    ...(uid === undefined ? {} : { uid }),
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}
