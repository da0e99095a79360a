/** Wait after a number of failures in a row, in ms: 1 s plus 5 ms that double each time, up to 1000 s. */
export const backoffMs = (failures: number): number => 1000 + Math.min(5 * 2 ** (failures - 1), 999_000);

/** How long it takes until another controller leads, in ms. */
export const restartMs = 15_000;

/** Longest wait that an answer can cause, in seconds: Cluster API forgets it after a day, and calls again. */
const longestWait = 24 * 3600;

/** A retryAfterSeconds in milliseconds. */
export const waitMs = (retryAfterSeconds: number): number => Math.min(retryAfterSeconds, longestWait) * 1000;
