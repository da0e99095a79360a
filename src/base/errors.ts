/** A mistake in flags, files or the environment: the command line prints the message alone, and ends with 2. */
export class UsageError extends Error {}

/** A failed operation (a file that cannot be written, a cluster that refuses): the message and the remedy, and 1. */
export class FailureError extends Error {
  /** What to do about it, if the message itself does not say so. */
  readonly remedy: string | undefined = undefined;
}

/** The message of an error, with what to do about it if that is known. */
export function withRemedy(error: Error): string {
  const remedy = error instanceof FailureError ? error.remedy : undefined;
  return remedy === undefined ? error.message : `${error.message}; ${remedy}`;
}
