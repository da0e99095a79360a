import { withoutControls } from '../../base/index.ts';
import { UsageError } from '../framework/program.ts';

/**
 * The value of a flag that names a Kubernetes object and becomes part of a request path.
 *
 * @param where the flag as the user knows it.
 * @throws {UsageError} with the first problem.
 */
export function checkedName(where: string, value: string, problemsOf: (value: string) => string[]): string {
  const [problem] = problemsOf(value);
  if (problem !== undefined) {
    throw new UsageError(`${where}: ${withoutControls(JSON.stringify(value.slice(0, 100)))} ${problem}`);
  }
  return value;
}
