import type { ConnectionTable } from './connection-table.ts';
import type { Connection } from './tracked.ts';

/**
 * The slowest progress at which a request or response is not considered stalled. Low, since a server that parses large
 * bodies gets round to each connection only now and then.
 */
const leastBytesPerMs = 32;

function markOf({ transport }: Connection) {
  return { bytes: transport.bytesRead + transport.bytesWritten, at: performance.now() };
}

/** Records the progress of a connection's request or response, unless that was recorded before. */
export function markProgress(connection: Connection): void {
  connection.mark ??= markOf(connection);
}

/**
 * Whether a request or response makes too little progress. Its total time does not count: that may be our own fault.
 */
export function isStalled(connection: Connection, stallTimeoutMs: number): boolean {
  if (connection.deciding > 0) {
    return false;
  }
  const { mark } = connection;
  const current = markOf(connection);
  if (mark !== undefined && current.at - mark.at < stallTimeoutMs) {
    return false;
  }
  connection.mark = current;
  return mark !== undefined && current.bytes - mark.bytes < (current.at - mark.at) * leastBytesPerMs;
}

function first(connections: ReadonlySet<Connection>): Connection | undefined {
  return connections.values().next().value;
}

/**
 * Which connection to close when there is no room: one that never sent a request, else the longest idle, else a stalled
 * one; undefined when none may be closed.
 */
export function victimOf({ fresh, idle, busy }: ConnectionTable, stallTimeoutMs: number): Connection | undefined {
  const newcomer = first(fresh);
  if (newcomer !== undefined && performance.now() - newcomer.since >= stallTimeoutMs) {
    return newcomer;
  }
  return first(idle) ?? [...busy].find((connection) => isStalled(connection, stallTimeoutMs));
}
