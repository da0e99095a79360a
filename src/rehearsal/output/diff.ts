import { createRequire } from 'node:module';
import type * as Diff from 'diff';
import { readableYaml } from '../../files/index.ts';
import { type JsonObject, jsonPatchOf } from '../../kubernetes/index.ts';
import { printable } from '../../terminal/index.ts';

const require = createRequire(import.meta.url);

/** Lines of two texts that are compared; longer ones are shown as operations. */
const maxLines = 2000;
/** Maximum number of lines that may differ. */
const maxEdits = 500;
/** Maximum number of operations that are shown instead. */
const maxOperations = 100;
/** Longest line, in characters. */
const maxLength = 200;

/** The difference of two objects as lines of their YAML, each with `+`, `-`, a space or `@` before it. */
export function diffLines(before: JsonObject, after: JsonObject): string[] {
  // A hundred files, and lives without patches need none of them.
  const { structuredPatch } = require('diff') as typeof Diff;
  const [old, changed] = [readableYaml(before), readableYaml(after)];
  const isShort = [old, changed].every((text) => text.split('\n').length <= maxLines);
  const patch = isShort
    ? structuredPatch('', '', old, changed, '', '', { context: 3, maxEditLength: maxEdits })
    : undefined;
  const lines =
    patch === undefined
      ? jsonPatchOf(before, after)
          .slice(0, maxOperations)
          .map((operation) => ` ${JSON.stringify(operation)}`)
      : patch.hunks.flatMap(({ oldStart, newStart, lines: hunk }) => [`@ line ${oldStart}, now ${newStart}`, ...hunk]);
  return lines.map((line) => (line.length > maxLength ? `${line.slice(0, maxLength)}…` : line)).map(printable);
}
