import { styleText } from 'node:util';
import { createLogOutput, type LogStream, logLineOptions, printableJson } from '../../base/index.ts';
import { choiceFlag, type Flags, type FlagValues } from './flags.ts';

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export const logFlags = {
  'log-level': choiceFlag('LEVEL', levels, 'least severe level to log', {
    default: 'info',
    env: 'EXTENSIONCONFIG_LOG_LEVEL',
  }),
} satisfies Flags;

const colours = { warn: 'yellow', error: 'red', fatal: 'red' } as const;

// Any other text is shown as JSON, which keeps control characters away from the terminal.
const plainWord = /^[\w.:/@-]+$/;
const plainText = /^[\x20-\x7e]*$/;

/** Formats JSON lines of the log for reading: time, level, message, then each field with its value. */
export function renderLines(lines: string, stream: LogStream): string {
  const written = lines.split('\n').filter((line) => line !== '');
  return written.map((line) => renderLine(line, stream)).join('');
}

function renderLine(line: string, stream: LogStream): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const name = String(level).toUpperCase().padEnd(5);
  const colour = colours[String(level) as keyof typeof colours];
  const shown = colour === undefined ? name : styleText(colour, name, { stream: stream as NodeJS.WriteStream });
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' && plainWord.test(value) ? value : printableJson(value)}`,
  );
  return `${String(time)} ${shown} ${typeof msg === 'string' && plainText.test(msg) ? msg : printableJson(msg)}${rest.join('')}\n`;
}

/** Opens the log of a command, to its end (`using`): a line per event, as text on a terminal and as JSON elsewhere. */
export async function openLog(stream: LogStream, flags: FlagValues<typeof logFlags>) {
  // The other commands need no log.
  const { pino } = await import('pino');
  const output = createLogOutput(stream, stream.isTTY === true ? (lines) => renderLines(lines, stream) : undefined);
  const log = pino(logLineOptions(flags['log-level']), output);
  return {
    log,
    lostLines: () => output.lostLines,
    [Symbol.dispose]() {
      if (stream.fd !== undefined) {
        // Lines that nobody reads keep the process, and nothing else does any more.
        setTimeout(() => process.exit(), 1_000).unref();
      }
    },
  };
}
