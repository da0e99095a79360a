import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * What to print of an error at the start: its message, and for one of a file that is imported, such as a wrong definition of
 * a handler, the file and the line.
 */
export function startProblem(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const sites = [...(error.stack ?? '').matchAll(/^ +at (?:[^\n]* \()?(file:\/\/[^()\n]+):(\d+):\d+\)?$/gm)];
  const project = pathToFileURL(`${process.cwd()}/`).href;
  const main = pathToFileURL(process.argv[1] ?? '').href;
  const isOwn = ([, url = '']: readonly string[]) =>
    url.startsWith(project) && !url.includes('/node_modules/') && url !== main;
  const [, url, line] = sites.find(isOwn) ?? [];
  return url === undefined ? error.message : `${error.message}\n    at ${relative('', fileURLToPath(url))}:${line}`;
}
