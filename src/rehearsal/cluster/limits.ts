/** What ends a life that would never end by itself. */
export interface ClusterApiLimits {
  /** Most calls of handlers. */
  maxCalls: number;
  /** Most reconciles that fail in a row. */
  maxFailures: number;
}
