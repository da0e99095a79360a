import { pino } from 'pino';
import { createLogOutput, type LogStream } from '../../base/index.ts';

/** The default log of an extension server: JSON lines, for whose reader handlers do not wait. */
export function defaultLog(stream: LogStream = process.stdout) {
  const output = createLogOutput(stream);
  const log = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  return { log, lostLines: () => output.lostLines };
}
