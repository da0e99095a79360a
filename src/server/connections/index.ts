export type { ConnectionEvents } from './connection-limits.ts';
export { type Connections, trackConnections } from './connections.ts';
export { defaultLimits, healthLimits, type Limits, limitsWith } from './limits.ts';
export { type Address, ListenError, listen } from './listen.ts';
export { createServer } from './node-http.ts';
export {
  type Connection,
  Http1Response,
  type TrackedHttp2Response,
  type TrackedRequest,
  type TrackedResponse,
  type TrackedServer,
} from './tracked.ts';
