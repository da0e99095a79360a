import { once } from 'node:events';
import { WriteStream } from 'node:tty';
import { coloured, type Paint, plain } from '../../base/index.ts';

export { FailureError, UsageError } from '../../base/index.ts';

/** Exit codes, for scripts; those of shells for SIGINT and, where the reader closed the output, for SIGPIPE. */
export const exitCode = { ok: 0, findings: 1, usage: 2, interrupted: 130, outputClosed: 141 } as const;

/** The environment of a command; tests pass their own. */
export interface Io {
  stdin: NodeJS.ReadableStream;
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  env: NodeJS.ProcessEnv;
  /** Aborted by SIGINT and SIGTERM. A command that throws the reason ends with a message and exit code 130. */
  signal: AbortSignal;
}

/** Styles for standard output: on a terminal with colours, unless NO_COLOR is set, and anywhere if FORCE_COLOR is. */
export function paintFor({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Paint {
  const isAsked = stdout.isTTY === true || env.FORCE_COLOR !== undefined;
  // The depth is 1 bit without colours.
  return isAsked && WriteStream.prototype.getColorDepth(env) > 2 ? coloured : plain;
}

/** Resolves when the command is to stop. */
export async function untilStopped({ signal }: Io): Promise<void> {
  if (!signal.aborted) {
    await once(signal, 'abort');
  }
}
