import { withoutControls } from '../../base/index.ts';

/**
 * `file:line:column`, without unknown parts, for the beginning of a line. A relative path that does not begin as paths
 * usually do begins with `./`: the runner of a workflow would take `::stop-commands::` for its own.
 */
export function showPlace({ file, line, column }: { file: string; line?: number; column?: number }): string {
  const path = /^[\w./~<"]/.test(file) ? file : `./${file}`;
  return [withoutControls(path), line, column].filter((part) => part !== undefined).join(':');
}
