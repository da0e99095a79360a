/**
 * Node.js's own HTTP. Not imported: an import reads all that the module has, and one of it, `WebSocket`, loads a whole HTTP
 * client, which is 30 ms of a start and 13 MiB.
 */
export const { createServer, ServerResponse } = process.getBuiltinModule('node:http');
