/** Limits for a simulation that would otherwise never end. */
export interface ClusterApiLimits {
  /** Maximum number of calls of handlers. */
  maxCalls: number;
  /** Maximum number of reconciles that fail in a row. */
  maxFailures: number;
}
