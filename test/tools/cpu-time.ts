/**
 * Milliseconds of processor time that this process has used so far, its other threads included. For limits on work: a
 * machine with much else to do stretches what a clock shows, and not this.
 */
export function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
