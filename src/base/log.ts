/** Writes one line: a message, or fields with a message. */
interface Write {
  (message: string): void;
  (fields: object, message?: string): void;
}

/** Where lines of a handler go: a pino logger is one. */
export interface Log {
  trace: Write;
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  fatal: Write;
  /** Whether lines of a level are written. */
  isLevelEnabled(level: string): boolean;
  /** A log whose lines also have these fields. */
  child(fields: Record<string, unknown>): Log;
  /** Calls back once the lines so far are written. */
  flush(done?: () => void): void;
}
