import { pino } from 'pino';
import { createLogOutput, type Log, type LogStream, logLineOptions } from '../../base/index.ts';

/**
 * The default log of an extension server: JSON lines, for whose reader handlers do not wait.
 *
 * @throws {TypeError} for a level that pino does not have.
 */
export function defaultLog(level = 'info', stream: LogStream = process.stdout) {
  if (!Object.hasOwn(pino.levels.values, level)) {
    const levels = Object.keys(pino.levels.values).join(', ');
    throw new TypeError(`logLevel: ${JSON.stringify(level.slice(0, 100))} is not one of ${levels}`);
  }
  const output = createLogOutput(stream);
  const log: Log = pino(logLineOptions(level), output);
  return { log, lostLines: () => output.lostLines };
}
