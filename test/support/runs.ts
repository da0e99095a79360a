/** Multiplies the number of cases: for a search of hours rather than for each change. */
const factor = Number(process.env.PROPERTY_RUNS ?? 1);

/**
 * The number of generated cases of a property: `count`, or `PROPERTY_RUNS` times as many. Fewer under mutation, where
 * all the properties of a module run once for each of a thousand faults.
 */
export function runs(count: number): number {
  return process.env.MUTATION_TESTS === undefined ? Math.max(1, Math.round(count * factor)) : Math.min(count, 20);
}
