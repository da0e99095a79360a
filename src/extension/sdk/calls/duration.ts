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
  for (const [part, number, unit = ''] of text.matchAll(/(\d{1,12}(?:\.\d{1,12})?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(number) * (unitMs[unit] ?? 0);
    read += part.length;
  }
  return read === text.length ? total : undefined;
}
