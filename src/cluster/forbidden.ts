import { ApiError } from './cluster.ts';

/** What a write needs of an operator. */
export class Forbidden extends Error {}

/** Turns 403 into a sentence that names the permission, and 401 into one that names the credentials. */
export function explain(error: unknown, verb: string, resource: string, name: string): unknown {
  if (error instanceof ApiError && error.code === 403) {
    return new Forbidden(`forbidden: the permission to ${verb} ${resource} ${name} is missing (${error.message})`);
  }
  if (error instanceof ApiError && error.code === 401) {
    return new Forbidden(
      `the API server does not accept the credentials: renew those of the kubeconfig (${error.message})`,
    );
  }
  return error;
}
