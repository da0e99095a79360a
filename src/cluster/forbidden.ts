import { StatusError } from './cluster.ts';

/** The credentials are insufficient; the message names the missing permission. */
export class Forbidden extends Error {}

/** Converts a 403 into an error that names the permission, and a 401 into one that names the credentials. */
export function explain(error: unknown, verb: string, resource: string, name: string): unknown {
  if (error instanceof StatusError && error.code === 403) {
    return new Forbidden(`forbidden: the permission to ${verb} ${resource} ${name} is missing (${error.message})`);
  }
  if (error instanceof StatusError && error.code === 401) {
    return new Forbidden(
      `the API server does not accept the credentials: renew those of the kubeconfig (${error.message})`,
    );
  }
  return error;
}
