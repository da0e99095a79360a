// What the Kubernetes client takes of undici, and this room: see client-node.ts.
import { createRequire } from 'node:module';
import type * as Undici from 'undici';

export { default as request } from 'undici/lib/api/api-request.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';

const require = createRequire(import.meta.url);

/** Of the client's own requests, which are none of ours: loaded with the first one. */
export const fetch: typeof Undici.fetch = (...request) => (require('undici') as typeof Undici).fetch(...request);
