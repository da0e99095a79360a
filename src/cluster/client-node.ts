import { createRequire, registerHooks } from 'node:module';
import { extname } from 'node:path';
import type * as Config from '@kubernetes/client-node/dist/config.js';
import type * as Http from '@kubernetes/client-node/dist/gen/http/http.js';
import type * as Undici from 'undici';

const require = createRequire(import.meta.url);
const parts = new URL(`./client-node-parts${extname(import.meta.url)}`, import.meta.url).href;

/**
 * Its kubeconfig without its models of every kind: it asks for all of its generated part and takes two functions of it, and
 * the rest is a thousand files that no request of ours needs, a quarter of a second and 60 MiB.
 */
function loadParts() {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === './gen/index.js' && context.parentURL?.endsWith('/@kubernetes/client-node/dist/config.js') === true
        ? next(parts, context)
        : next(specifier, context),
  });
  try {
    const { KubeConfig } = require('@kubernetes/client-node/dist/config.js') as typeof Config;
    const { RequestContext } = require('@kubernetes/client-node/dist/gen/http/http.js') as typeof Http;
    return { KubeConfig, RequestContext };
  } finally {
    hooks.deregister();
  }
}

let loaded: ReturnType<typeof loadParts> | undefined;

/**
 * What this program uses of the Kubernetes client, loaded when it is first asked for: a server that mounts its certificate
 * never talks to an API server. The classes are those that the whole client has, too.
 */
export function clientNode(): ReturnType<typeof loadParts> {
  loaded ??= loadParts();
  return loaded;
}

/** The HTTP client that the Kubernetes client uses, too; loaded with it. */
export function undici(): typeof Undici {
  return require('undici');
}
