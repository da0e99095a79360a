import { structuredPatch } from 'diff';
import { printable, truncated } from '../../base/index.ts';
import { withoutSecrets } from '../../base/secrets/index.ts';
import { readableYaml } from '../../base/yaml/index.ts';
import { isSame, type Json } from '../../kubernetes/index.ts';

/** Largest value that is compared, in characters of JSON, and the most lines that may differ. */
const maxCompared = 64 * 1024;
const maxEdits = 500;
/** Longest line, in characters. */
const maxLength = 1000;

const yamlOf = (value: Json) =>
  typeof value === 'string'
    ? `${withoutSecrets(value).replace(/\n$/, '')}\n`
    : withoutSecrets(readableYaml(value as object));

/**
 * The difference between two values as lines of their YAML without secrets, each with `+`, `-`, a space or `@` in front;
 * none if they are equal.
 */
export function diffLines(before: Json, after: Json, context = 3): string[] {
  if (isSame(before, after)) {
    return [];
  }
  const isSmall = [before, after].every((value) => JSON.stringify(value).length <= maxCompared);
  const options = { context, maxEditLength: maxEdits };
  const patch = isSmall ? structuredPatch('', '', yamlOf(before), yamlOf(after), '', '', options) : undefined;
  if (patch === undefined) {
    return [' too many lines differ to show them'];
  }
  const lines = patch.hunks.flatMap((hunk) => [`@ line ${hunk.oldStart}, now ${hunk.newStart}`, ...hunk.lines]);
  return lines.length === 0
    ? [' only values that are not shown here']
    : lines.map((line) => printable(truncated(line, maxLength)));
}
