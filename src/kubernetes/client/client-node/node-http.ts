// Node.js's own HTTP as the Kubernetes client library uses it: without `WebSocket` and its events. See client-node.ts.
const http = process.getBuiltinModule('node:http');

export const {
  Agent,
  ClientRequest,
  createServer,
  get,
  globalAgent,
  IncomingMessage,
  METHODS,
  maxHeaderSize,
  OutgoingMessage,
  request,
  STATUS_CODES,
  Server,
  ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} = http;
export default http;
