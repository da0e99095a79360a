import { inspect } from 'node:util';
import { pino } from 'pino';
import { createLogOutput, type Log, type LogStream, logLineOptions } from '../../base/index.ts';

/** The default log: JSON lines, for whose reader handlers do not wait. @throws {TypeError} for an unknown level. */
export function defaultLog(level = 'info', stream: LogStream = process.stdout) {
  if (!Object.hasOwn(pino.levels.values, level)) {
    const levels = Object.keys(pino.levels.values).join(', ');
    throw new TypeError(`logLevel: ${JSON.stringify(level.slice(0, 100))} is not one of ${levels}`);
  }
  const output = createLogOutput(stream);
  const log: Log = pino(logLineOptions(level), output);
  return { log, lostLines: () => output.lostLines };
}

/** Longest text in the log, in characters, and maximum number of causes, each below the one before. */
const maxLogged = 20_000;
const maxCauses = 5;

interface Fault {
  error: string;
  message: string;
  stack?: string | undefined;
  cause?: Fault;
}

/** The log's fields for anything that was thrown. */
export function fault(error: unknown, causes = maxCauses): Fault {
  if (error instanceof Error) {
    const shown = (text: unknown) => String(text).slice(0, maxLogged);
    const { name, message, stack = '' } = error;
    const cause = error.cause === undefined || causes === 0 ? {} : { cause: fault(error.cause, causes - 1) };
    return { error: shown(name), message: shown(message), stack: shown(stack), ...cause };
  }
  // Not String(), which throws for an object without a prototype.
  const message = typeof error === 'string' ? error : inspect(error, { breakLength: Number.POSITIVE_INFINITY });
  return { error: typeof error, message: message.slice(0, maxLogged) };
}
