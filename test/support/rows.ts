import { expect, test } from 'vitest';

/**
 * One test for all rows of a long table: a test of its own for each would cost more than what it checks. It fails with the
 * error of the first row that fails, and names all that do.
 */
export function testRows<T>(
  title: string,
  rows: readonly (readonly [name: string, row: T])[],
  check: (row: T, name: string) => unknown,
): void {
  test(title, async () => {
    expect(rows.length, 'rows of the table: where are they read from?').toBeGreaterThan(0);
    const failed: string[] = [];
    let first: Error | undefined;
    for (const [name, row] of rows) {
      try {
        await check(row, name);
      } catch (error) {
        failed.push(name);
        first ??= error as Error;
      }
    }
    if (first !== undefined) {
      first.message = `${failed.join(', ')}: ${first.message}`;
      throw first;
    }
  });
}
