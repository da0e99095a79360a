import { structuredPatch } from 'diff';
import { printable, readableYaml, truncated } from '../../../base/index.ts';
import { type JsonObject, jsonPatchOf } from '../../../kubernetes/index.ts';

/** Maximum number of lines of two texts to compare; for longer ones the operations are shown. */
const maxLines = 2000;
/** Maximum number of lines that differ. */
const maxEdits = 500;
/** Maximum number of operations shown. */
const maxOperations = 100;
/** Longest line, in characters. */
const maxLength = 200;

/** The difference between two objects as lines of their YAML, each with `+`, `-`, a space or `@` in front. */
export function diffLines(before: JsonObject, after: JsonObject): string[] {
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
  return lines.map((line) => printable(truncated(line, maxLength)));
}
