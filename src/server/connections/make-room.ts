import type { Connection } from './connection.ts';

const isDeciding = ({ responses }: Connection) =>
  responses.values().some(({ req, headersSent }) => req.complete && !headersSent);

/**
 * The connection to close for another one: one that never sent a request, else the longest idle, else one whose request does
 * not arrive or whose response is not read. Undefined when none may be closed: while a request is being decided, the client
 * is not to blame.
 */
export function connectionToEvict(open: Iterable<Connection>, stallTimeoutMs: number): Connection | undefined {
  const latest = performance.now() - stallTimeoutMs;
  const first = (matches: (connection: Connection) => boolean) =>
    [...open]
      .filter(matches)
      .reduce<Connection | undefined>(
        (oldest, one) => (oldest === undefined || one.since < oldest.since ? one : oldest),
        undefined,
      );
  return (
    first(({ hasCalled, since }) => !hasCalled && since <= latest) ??
    first(({ hasCalled, responses }) => hasCalled && responses.size === 0) ??
    first((one) => one.responses.size > 0 && one.since <= latest && !isDeciding(one))
  );
}
