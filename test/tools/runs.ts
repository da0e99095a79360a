/** How many times as many cases as usual: for a search of hours rather than for each change. */
const factor = Number(process.env.PROPERTY_RUNS ?? 1);

/**
 * How many generated cases a property is tested with: `count`, or `PROPERTY_RUNS` times as many. Fewer under mutation, where all
 * the properties of a room run once for each of a thousand faults.
 */
export function runs(count: number): number {
  return process.env.MUTATION_TESTS === undefined ? Math.max(1, Math.round(count * factor)) : Math.min(count, 20);
}
