import { createRequire } from 'node:module';
import type * as ClientNode from '@kubernetes/client-node';
import type * as Undici from 'undici';

const require = createRequire(import.meta.url);

/**
 * The Kubernetes client, loaded when it is first asked for: it takes some 70 MiB and a quarter of a second, and a server
 * that mounts its certificate never talks to an API server.
 */
export function clientNode(): typeof ClientNode {
  return require('@kubernetes/client-node');
}

/** The HTTP client that the Kubernetes client uses, too; loaded with it. */
export function undici(): typeof Undici {
  return require('undici');
}
