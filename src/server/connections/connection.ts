import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Refusal } from '../application/refusal.ts';

/** An event on a port, for metrics and the log. */
export interface ConnectionEvents {
  /** A connection was closed to make room for another. */
  evicted(): void;
  /** A new connection was closed on arrival: the server was full, and no other connection could be closed for it. */
  dropped(): void;
  /** A connection was closed because the client did not read a response in time. */
  responseDropped(): void;
  /** A request was refused before a decision. */
  refused(refusal: Refusal, socket: Socket): void;
}

/** One connection of a server. */
export interface Connection {
  /** The TCP socket; with TLS, the one underneath. */
  readonly transport: Socket;
  /** Both ends: from one port a client may have connections to several addresses of this server. */
  readonly ends: string;
  /** The TLS socket on it, once its handshake is complete. */
  tls?: TLSSocket;
  /** Why its client may not call; undefined if it may. */
  refusal?: string;
  /** The responses that have not been sent completely; several when requests are pipelined. */
  readonly responses: Set<ServerResponse>;
  /** Whether it has had a request. */
  hasCalled: boolean;
  /** When it arrived, became idle or busy, or sent a response. */
  since: number;
}
