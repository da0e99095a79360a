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

/** What the library's kubeconfig imports of which it uses little, or rarely. */
const replaced = new Set([
  './azure_auth.js',
  './gcp_auth.js',
  './gen/index.js',
  './oidc_auth.js',
  'hpagent',
  'socks',
  'socks-proxy-agent',
]);

/**
 * The library's kubeconfig without its models of every kind: it requires its whole generated part, of which it uses two
 * functions; the rest is a thousand files that none of our requests needs, a quarter of a second and 60 MiB. Providers'
 * credentials and proxies are loaded when a kubeconfig has them, which saves another 40 ms. It uses
 * three functions of its HTTP client; the rest is eighty files. And importing Node.js's own HTTP module evaluates all
 * of its exports, of which `WebSocket` loads another HTTP client, which costs 30 ms and 13 MiB.
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
      const isReplaced = replaced.has(specifier) && context.parentURL.endsWith('/dist/config.js');
      return next(isReplaced ? parts : specifier, context);
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
 * The part of the Kubernetes client library that this program uses, loaded on first use: a server with a mounted
 * certificate never talks to an API server. The classes are the same as those of the complete library.
 */
export function clientNode(): ReturnType<typeof loadParts> {
  loaded ??= loadParts();
  return loaded;
}

let loadedUndici: typeof UndiciParts | undefined;

/** The HTTP client of the Kubernetes client library, loaded on first use. */
export function undici(): typeof UndiciParts {
  loadedUndici ??= require(fileURLToPath(undiciParts)) as typeof UndiciParts;
  return loadedUndici;
}
