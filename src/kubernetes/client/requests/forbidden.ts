import { isStatus, StatusError } from './kubernetes-client.ts';

/** The credentials are insufficient; the message names the missing permission. */
export class Forbidden extends Error {}

/** How a 403 says that the reason is not a permission: admission webhooks and policies, quotas, namespaces. */
const otherReason = /denied (?:the )?request|quota: |being terminated/;

/** Converts a 403 into an error that names the permission, and a 401 into one that names the credentials. */
export function explain(error: unknown, verb: string, resource: string, name: string): unknown {
  if (isStatus(error, 403) && otherReason.test(error.message)) {
    return new StatusError(403, `the API server refuses to ${verb} ${resource} ${name}: ${error.message}`);
  }
  if (isStatus(error, 403)) {
    return new Forbidden(`forbidden: the permission to ${verb} ${resource} ${name} is missing (${error.message})`);
  }
  if (isStatus(error, 401)) {
    return new Forbidden(
      `the API server does not accept the credentials: renew those of the kubeconfig (${error.message})`,
    );
  }
  return error;
}
