import type { ConnectionEvents, ConnectionLimits } from './connection-limits.ts';
import type { ConnectionTable } from './connection-table.ts';
import { markProgress } from './stalled.ts';
import type { Connection } from './tracked.ts';

/** Finds the connections that have timed out at a given moment, and ends them. */
export class Timeouts {
  readonly #table: ConnectionTable;
  readonly #limits: ConnectionLimits;
  readonly #events: ConnectionEvents;

  constructor(table: ConnectionTable, limits: ConnectionLimits, events: ConnectionEvents) {
    this.#table = table;
    this.#limits = limits;
    this.#events = events;
  }

  check(): void {
    const now = performance.now();
    for (const connection of this.#table.busy) {
      this.#checkBusy(connection, now);
    }
    for (const connection of this.#table.fresh) {
      if (connection.session !== undefined && now - connection.since >= this.#limits.headersTimeoutMs) {
        this.#table.close(connection);
      }
    }
    for (const connection of this.#table.idle) {
      if (now - connection.since >= this.#limits.keepAliveTimeoutMs || connection.leavingSince !== undefined) {
        this.#table.close(connection);
      }
    }
  }

  #checkBusy(connection: Connection, now: number): void {
    const { responseTimeoutMs, requestTimeoutMs } = this.#limits;
    // Node enforces the time for a request to arrive, unless its response has begun earlier.
    const allowed = responseTimeoutMs + (connection.responding ? 0 : requestTimeoutMs);
    if (connection.session !== undefined) {
      this.#checkStreams(connection, now);
    } else if (now - connection.since >= allowed) {
      this.#events.responseDropped();
      this.#table.cut(connection);
      return;
    }
    markProgress(connection);
  }

  /** Abandons HTTP/2 requests that have not arrived in time, and responses that the client has not read in time. */
  #checkStreams(connection: Connection, now: number): void {
    const { responseTimeoutMs, requestTimeoutMs } = this.#limits;
    for (const response of connection.streams) {
      const { since, respondingSince, isGivenUp } = response;
      const late = now - since >= requestTimeoutMs;
      if (respondingSince === undefined && late && !response.req.complete && !isGivenUp) {
        this.#events.requestLate(response.req, response);
      } else if (
        now - (respondingSince ?? since) >=
        responseTimeoutMs + (respondingSince === undefined ? requestTimeoutMs : 0)
      ) {
        if (isGivenUp) {
          // Not even the reset could be sent.
          this.#table.cut(connection);
          return;
        }
        this.#events.responseDropped();
        response.giveUp();
      }
    }
  }
}
