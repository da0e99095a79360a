interface Write {
  (message: string): void;
  (fields: object, message?: string): void;
}

/** What the log says about an error that only a bug can cause: not its message, which may contain a part of an object. */
export function bugFields(error: unknown): { error: string; stack: string[] } {
  const lines = error instanceof Error ? error.stack?.replace(error.message, '').split('\n') : undefined;
  const stack = lines?.filter((line) => /^\s+at /.test(line)) ?? [];
  return { error: error instanceof Error ? error.name : typeof error, stack };
}

/** Where lines of a handler go: a pino logger is one. */
export interface Log {
  trace: Write;
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  fatal: Write;
  isLevelEnabled(level: string): boolean;
  child(fields: Record<string, unknown>): Log;
  flush(done?: () => void): void;
}
