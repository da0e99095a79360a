import { structuredPatch } from 'diff';
import { printable, readableYaml, truncated } from '../../../base/index.ts';
import { type JsonObject, jsonPatchOf } from '../../../kubernetes/index.ts';
import { withoutSecrets } from '../../texts.ts';
import type { TemplateChange } from '../cluster/effects.ts';

/** Largest object that is compared line by line, in characters of JSON; of larger ones the operations are shown. */
const maxCompared = 64 * 1024;
const maxEdits = 500;
const maxOperations = 100;
/** Longest line, in characters. */
const maxLength = 200;

const yamlOf = (object: JsonObject) => withoutSecrets(readableYaml(object));

/** The operations that make one version of a template out of another. */
const operationLines = (before: JsonObject, after: JsonObject): string[] =>
  jsonPatchOf(before, after)
    .slice(0, maxOperations)
    .map((operation) => {
      const value = 'value' in operation ? `: ${JSON.stringify(operation.value).slice(0, 2 * maxLength)}` : '';
      return withoutSecrets(` ${operation.op} ${operation.path}${value}`);
    });

/**
 * The difference between two versions of a template as lines of their YAML without secrets, each with `+`, `-`, a space
 * or `@` in front.
 */
export function diffLines({ before, after, ignored }: TemplateChange): string[] {
  const isSmall = [before, after].every((object) => JSON.stringify(object).length <= maxCompared);
  const options = { context: 3, maxEditLength: maxEdits };
  const patch = isSmall ? structuredPatch('', '', yamlOf(before), yamlOf(after), '', '', options) : undefined;
  const lines =
    patch?.hunks.flatMap(({ oldStart, newStart, lines: hunk }) => [`@ line ${oldStart}, now ${newStart}`, ...hunk]) ??
    operationLines(before, after);
  return lines.length === 0 && ignored.length === 0
    ? [' only values that are not shown here']
    : lines.map((line) => printable(truncated(line, maxLength)));
}
