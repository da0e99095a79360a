import { type Logger, pino } from 'pino';

/**
 * When lines are written at the latest, in milliseconds; from how many bytes on at once; and how many bytes wait at most for
 * a reader that does not read: newer lines are dropped, for handlers must not wait for it.
 */
const batch = { periodicFlush: 50, minLength: 4096, maxLength: 8 * 1024 * 1024 };

/**
 * The log of an extension server that is given none: JSON lines on a file descriptor or into a file, by default stdout. Lines
 * are written in the background, a few in one go; at the end of the process what is left is written.
 */
export function defaultLog(dest: number | string = 1): Logger {
  return pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest, sync: false, ...batch }),
  );
}
