import { createRequire } from 'node:module';
import { styleText } from 'node:util';
import type { DestinationStream, Logger, pino as Pino } from 'pino';
import { choiceFlag, type Flags, type FlagValues } from './flags.ts';

const require = createRequire(import.meta.url);

/** pino, loaded only by the commands that write a log. */
function pino(): typeof Pino {
  return require('pino');
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
const formats = ['auto', 'json', 'text'] as const;

/** The log flags of a long-running command. */
export const logFlags = {
  'log-level': choiceFlag('LEVEL', levels, { summary: 'least severe level to log', default: 'info' }),
  'log-format': choiceFlag('FORMAT', formats, {
    summary: 'format of the log; auto: text on a terminal, otherwise json',
    default: 'auto',
  }),
} satisfies Flags;

/** Where a log is written: the process's stdout or stderr, or a test's stream. */
export type LogStream = NodeJS.WritableStream & { isTTY?: boolean; fd?: number };

/**
 * Maximum number of bytes of log lines waiting for a slow reader; further lines are dropped, since neither memory nor a
 * review may wait for the reader of the log.
 */
const maxWaitingBytes = 4 * 1024 * 1024;

const colours = { warn: 'yellow', error: 'red', fatal: 'red' } as const;

// Any other text is shown as JSON, which keeps control characters away from the terminal.
const plainWord = /^[\w.:/@-]+$/;
const plainText = /^[\x20-\x7e]*$/;

/** Formats a JSON line of the log for reading: time, level, message, then each field with its value. */
export function renderLine(line: string, stream: LogStream): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const name = String(level).toUpperCase().padEnd(5);
  const colour = colours[String(level) as keyof typeof colours];
  const shown = colour === undefined ? name : styleText(colour, name, { stream: stream as NodeJS.WriteStream });
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' && plainWord.test(value) ? value : JSON.stringify(value)}`,
  );
  return `${String(time)} ${shown} ${typeof msg === 'string' && plainText.test(msg) ? msg : JSON.stringify(msg)}${rest.join('')}\n`;
}

function destinationOf(stream: LogStream, format: FlagValues<typeof logFlags>['log-format']): DestinationStream {
  if (format === 'text' || (format === 'auto' && stream.isTTY === true)) {
    return { write: (line: string) => stream.write(renderLine(line, stream)) };
  }
  // Bypasses the process's own stream, which writes each line at once and waits for the reader of a pipe: here, lines
  // that arrive during a write are written together afterwards. The rest is written when the process exits.
  return typeof stream.fd === 'number'
    ? pino().destination({ dest: stream.fd, sync: false, maxLength: maxWaitingBytes })
    : { write: (line: string) => stream.write(line) };
}

/** Opens the log of a command: one line per event, with an ISO timestamp and the name of the level. */
export function openLog(stream: LogStream, flags: FlagValues<typeof logFlags>): Logger {
  const log = pino();
  return log(
    {
      level: flags['log-level'],
      base: null,
      timestamp: log.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destinationOf(stream, flags['log-format']),
  );
}
