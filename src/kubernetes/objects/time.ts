/** A time in whole seconds, as metav1.Time is serialized. */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

const goUnits: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** One part of a duration: a number and its unit. */
const part = /(\d+(?:\.\d*)?|\.\d+)([a-z\u00b5\u03bc]+)/y;

/** The milliseconds of a duration as Go's time.ParseDuration reads it: `1m30s`, `-1.5h`, and with `moreUnits`; undefined for any other text. */
export function goDurationMs(text: string, moreUnits: Readonly<Record<string, number>> = {}): number | undefined {
  const [sign = ''] = /^[-+]/.exec(text) ?? [];
  let end = sign.length;
  if (text.slice(end) === '0') {
    return 0;
  }
  let total = text.length === end ? Number.NaN : 0;
  // Part by part: a single expression for all of them runs out of stack for a text of some MiB.
  while (end < text.length && !Number.isNaN(total)) {
    part.lastIndex = end;
    const [all = '', number, unit = ''] = part.exec(text) ?? [];
    total += Number(number) * (goUnits[unit] ?? moreUnits[unit] ?? Number.NaN);
    end += all.length;
  }
  return Number.isNaN(total) ? undefined : sign === '-' ? -total : total;
}

/** Seconds as Go prints a duration: `10s`, `1m0s`, `1h0m5s`. */
export function goSecondsText(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds % 60}s`;
}
