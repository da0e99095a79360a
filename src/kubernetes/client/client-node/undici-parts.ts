// The parts of undici that the Kubernetes client and our requests use: see client-node.ts.
import { createRequire } from 'node:module';
import type * as Undici from 'undici';
import methods from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';

const require = createRequire(import.meta.url);

// As in the complete undici: the agent for proxies connects with one of these methods.
Object.assign(Dispatcher.prototype, methods);

/** For the library's own requests, which we do not make: loaded on first use. */
export const fetch: typeof Undici.fetch = (...request) => (require('undici') as typeof Undici).fetch(...request);
