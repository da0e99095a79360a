import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';

/** Ends the connections and requests that have timed out. To be called every now and then. */
export function endTimedOut(connections: Connections): void {
  const { fresh, idle, busy, limits } = connections;
  const now = performance.now();
  for (const connection of busy) {
    checkBusy(connections, connection, now);
  }
  for (const [waiting, timeoutMs] of [
    [fresh, limits.headersTimeoutMs],
    [idle, limits.keepAliveTimeoutMs],
  ] as const) {
    for (const connection of waiting) {
      const { session, since, leavingSince } = connection;
      // Before the first request of HTTP/1.1, the timeout is Node's.
      const isLate = now - since >= timeoutMs && (session !== undefined || waiting === idle);
      if (isLate || leavingSince !== undefined) {
        connections.close(connection);
      } else if (connection.isWasteful()) {
        connections.cut(connection);
      }
    }
  }
}

function checkBusy(connections: Connections, connection: Connection, now: number): void {
  const { limits, events } = connections;
  if (connection.isWasteful()) {
    connections.cut(connection);
    return;
  }
  const isHttp2 = connection.session !== undefined;
  const { requestTimeoutMs, responseTimeoutMs } = limits;
  for (const exchange of connection.exchanges) {
    const { startedMs, respondingSince } = exchange;
    const hasBegun = respondingSince !== undefined;
    // Over HTTP/1.1, Node refuses what arrives too slowly.
    if (isHttp2 && !hasBegun && !exchange.hasArrived && now - startedMs >= requestTimeoutMs) {
      exchange.refuseLate();
      continue;
    }
    // Pipelined requests wait for each other.
    const since = Math.max(respondingSince ?? startedMs, isHttp2 ? 0 : connection.since);
    if (now - since < responseTimeoutMs + (hasBegun ? 0 : requestTimeoutMs)) {
      continue;
    }
    if (exchange.isReset) {
      // Not even the reset could be sent.
      connections.cut(connection);
      return;
    }
    events.responseDropped();
    if (!isHttp2) {
      connections.cut(connection);
      return;
    }
    exchange.reset();
  }
  connection.markProgress();
}
