/** Seconds in the format of Go's `time.Duration`, as in the query of calls: `10s`, `30s`, `1m0s`. */
export function formatGoSeconds(seconds: number): string {
  if (seconds < 60) {
    return `${seconds}s`;
  }
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours === 0 ? '' : `${hours}h`}${minutes}m${seconds % 60}s`;
}
