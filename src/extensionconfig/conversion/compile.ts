import { type ChangeTable, readTable } from './change-table.ts';
import { compileDirection, type VersionSchema } from './direction.ts';
import type { ConversionPlan } from './plan.ts';

/** Two versions differ in a way that the table does not list. */
export class UnlistedDifferenceError extends Error {}

/**
 * Compiles both directions between two versions from their schemas and the table of changes.
 *
 * @param keeps whether what one version cannot represent is kept as conversion data; otherwise it is lost.
 * @throws {UnlistedDifferenceError} naming every difference that the table does not list, and every entry of the table
 *   that matches nothing.
 */
export function compilePlans(
  older: VersionSchema,
  newer: VersionSchema,
  table: ChangeTable,
  keeps = true,
): { toNewer: ConversionPlan; toOlder: ConversionPlan } {
  const read = readTable(table);
  const toNewer = compileDirection(older, newer, read.toNewer, keeps);
  const toOlder = compileDirection(newer, older, read.toOlder, keeps);
  const problems = new Set([...toNewer.problems, ...toOlder.problems, ...read.problems()]);
  if (problems.size > 0) {
    throw new UnlistedDifferenceError(
      `${older.apiVersion} and ${newer.apiVersion} differ in ways that the table does not list:\n- ${[...problems].join('\n- ')}`,
    );
  }
  return { toNewer: toNewer.plan, toOlder: toOlder.plan };
}
