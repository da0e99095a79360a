/**
 * How many generated cases a property is tested with. Fewer under mutation, where all the properties of a room run once
 * for each of a thousand faults.
 */
export function runs(count: number): number {
  return process.env.MUTATION_TESTS === undefined ? count : Math.min(count, 20);
}
