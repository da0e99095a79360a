import { StatusError } from './cluster.ts';

/** The credentials are not sufficient; the message names the missing permission, for the operator. */
export class Forbidden extends Error {}

/** Turns 403 into a sentence that names the permission, and 401 into one that names the credentials. */
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
