/**
 * CPU time of this process so far, in milliseconds, including its other threads. For limits on work: wall-clock time
 * grows on a busy machine, CPU time does not.
 */
export function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
