import { structuredPatch } from 'diff';
import { printable, truncated } from '../../base/index.ts';
import { readableYaml } from '../../base/yaml/index.ts';
import { isSame, type Json, jsonPatchOf } from '../../kubernetes/index.ts';
import { withoutSecrets } from '../texts.ts';

/** Largest value that is compared line by line, in characters of JSON; of larger ones the operations are shown. */
const maxCompared = 64 * 1024;
const maxEdits = 500;
const maxOperations = 100;
/** Longest line, in characters. */
const maxLength = 200;

const yamlOf = (value: Json) =>
  typeof value === 'string'
    ? `${withoutSecrets(value).replace(/\n$/, '')}\n`
    : withoutSecrets(readableYaml(value as object));

/** The operations that make one value out of another. */
const operationLines = (before: Json, after: Json): string[] =>
  jsonPatchOf(before, after)
    .slice(0, maxOperations)
    .map((operation) => {
      const value = 'value' in operation ? `: ${JSON.stringify(operation.value).slice(0, 2 * maxLength)}` : '';
      return withoutSecrets(` ${operation.op} ${operation.path}${value}`);
    });

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
  const lines =
    patch?.hunks.flatMap(({ oldStart, newStart, lines: hunk }) => [`@ line ${oldStart}, now ${newStart}`, ...hunk]) ??
    operationLines(before, after);
  return lines.length === 0
    ? [' only values that are not shown here']
    : lines.map((line) => printable(truncated(line, maxLength)));
}
