import { inspect } from 'node:util';
import { HandlerFailure } from './handler.ts';

const maxLogged = 20_000;

/** Maximum number of causes that the log shows, each below the one before. */
const maxCauses = 5;

interface Fault {
  error: string;
  message: string;
  stack?: string | undefined;
  cause?: Fault;
}

/** Returns the log's fields for anything that was thrown. */
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

/** The message of a failure that the handler intended; undefined for everything else that was thrown. */
export const intendedFailure = (error: unknown): string | undefined =>
  error instanceof HandlerFailure ? String(error.message) : undefined;
