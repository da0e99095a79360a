import { withoutControls } from '../../base/index.ts';

/** `file:line:column`, without unknown parts. */
export function showPlace({ file, line, column }: { file: string; line?: number; column?: number }): string {
  return [withoutControls(file), line, column].filter((part) => part !== undefined).join(':');
}
