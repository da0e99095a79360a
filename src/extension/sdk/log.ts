import { openSync } from 'node:fs';
import { type Logger, pino } from 'pino';

/**
 * Flush interval in milliseconds; number of buffered bytes that are flushed at once; and the maximum number of bytes
 * waiting for a slow reader. Beyond that, new lines are dropped, since handlers must not wait for it.
 */
const batch = { periodicFlush: 50, minLength: 4096, maxLength: 8 * 1024 * 1024 };

let lastSecond = Number.NaN;
let untilSecond = '';

/**
 * Like pino's own `isoTime`, which spends more time on the date than on the rest of a line: here the date is computed
 * once a second.
 */
function isoTime(): string {
  const now = Date.now();
  const second = Math.floor(now / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    untilSecond = `,"time":"${new Date(second * 1000).toISOString().slice(0, -'000Z'.length)}`;
  }
  return `${untilSecond}${String(now - second * 1000).padStart(3, '0')}Z"`;
}

/**
 * The default log of an extension server: JSON lines to a file descriptor or into a file, by default stdout. Lines are
 * written asynchronously, in batches; the rest is written when the process exits.
 */
export function defaultLog(dest: number | string = 1): Logger {
  return pino(
    {
      base: null,
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    // A file is opened here, synchronously: writing to one that is still being opened would be an uncaught error.
    pino.destination({ dest: typeof dest === 'string' ? openSync(dest, 'a') : dest, sync: false, ...batch }),
  );
}
