import { createRequire, registerHooks } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Config from '@kubernetes/client-node/dist/config.js';
import type * as Http from '@kubernetes/client-node/dist/gen/http/http.js';
import type * as UndiciParts from './undici-parts.ts';

const require = createRequire(import.meta.url);
const parts = new URL(`./client-node-parts${extname(import.meta.url)}`, import.meta.url).href;
const undiciParts = new URL(`./undici-parts${extname(import.meta.url)}`, import.meta.url);
const nodeHttp = new URL(`./node-http${extname(import.meta.url)}`, import.meta.url).href;

/**
 * Its kubeconfig without its models of every kind: it asks for all of its generated part and takes two functions of it, and
 * the rest is a thousand files that no request of ours needs, a quarter of a second and 60 MiB. Of its HTTP client it takes
 * three, and the rest is eighty files. And an import of Node.js's own HTTP reads all of it, of which `WebSocket` loads
 * another HTTP client, in 30 ms and 13 MiB.
 */
function loadParts() {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (/^(node:)?http$/.test(specifier) && context.conditions?.includes('import') === true) {
        return next(nodeHttp, context);
      }
      if (context.parentURL?.includes('/@kubernetes/client-node/dist/') !== true) {
        return next(specifier, context);
      }
      if (specifier === 'undici') {
        return next(undiciParts.href, context);
      }
      const isWhole = specifier === './gen/index.js' && context.parentURL.endsWith('/dist/config.js');
      return next(isWhole ? parts : specifier, context);
    },
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

/** The HTTP client of the Kubernetes client, loaded when it is first asked for. */
export function undici(): typeof UndiciParts {
  return require(fileURLToPath(undiciParts));
}
