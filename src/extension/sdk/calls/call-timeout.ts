const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Longest text that is parsed: `time.Duration` prints far less. */
const maxLength = 40;

/** Milliseconds of a duration as Go prints it (`10s`, `1m0s`, `1.5s`); undefined for any other text. */
export function goDurationMs(text: string): number | undefined {
  if (text === '' || text.length > maxLength) {
    return undefined;
  }
  let total = 0;
  let read = 0;
  for (const [part, number, unit] of text.matchAll(/(\d{1,12}(?:\.\d{1,12})?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(number) * (unitMs[unit as string] as number);
    read += part.length;
  }
  return read === text.length ? total : undefined;
}

/** How long Cluster API waits for an answer by default, in seconds. */
const defaultTimeoutSeconds = 10;
/** Longest time that a call may take, in milliseconds: Cluster API's limit. */
const maxTimeoutMs = 30_000;

/** The `timeout` in a call's query, in milliseconds; undefined if it is absent or not a duration. */
function timeoutOf(query: string): number | undefined {
  const text = /(?:^|&)timeout=([^&]*)/.exec(query)?.[1];
  return text === undefined ? undefined : goDurationMs(text);
}

/**
 * How long a caller waits for an answer, in milliseconds: according to the query of the call, else to the handler, and
 * never longer than Cluster API.
 */
export function callTimeoutMs(query: string, handlerSeconds = defaultTimeoutSeconds): number {
  // 0 counts as absent, as it does for API servers: a caller that waits for nothing would not call.
  return Math.min(timeoutOf(query) || handlerSeconds * 1000, maxTimeoutMs);
}
