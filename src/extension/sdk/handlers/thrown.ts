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

/** What the log says about something that was thrown, whatever it is: reading it may throw as well. */
export function fault(error: unknown, causes = maxCauses): Fault {
  try {
    if (error instanceof Error) {
      const shown = (text: unknown) => String(text).slice(0, maxLogged);
      const { name, message, stack = '' } = error;
      const cause = error.cause === undefined || causes === 0 ? {} : { cause: fault(error.cause, causes - 1) };
      return { error: shown(name), message: shown(message), stack: shown(stack), ...cause };
    }
    // Not String(), which throws for an object without a prototype.
    const message = typeof error === 'string' ? error : inspect(error, { breakLength: Number.POSITIVE_INFINITY });
    return { error: typeof error, message: message.slice(0, maxLogged) };
  } catch {
    return { error: typeof error, message: 'it cannot be shown: reading it throws an error' };
  }
}

/** The message of a failure that the handler intended; undefined for everything else that was thrown. */
export function intendedFailure(error: unknown): string | undefined {
  try {
    return error instanceof HandlerFailure ? String(error.message) : undefined;
  } catch {
    return undefined;
  }
}
