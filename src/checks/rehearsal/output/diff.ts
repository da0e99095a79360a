import { structuredPatch } from 'diff';
import { printable, readableYaml, truncated } from '../../../base/index.ts';
import { type Json, type JsonObject, jsonPatchOf } from '../../../kubernetes/index.ts';
import { withoutSecrets } from '../../texts.ts';
import type { TemplateChange } from '../cluster/effects.ts';

/** Maximum number of values of two objects to compare line by line; of larger ones the operations are shown. */
const maxValues = 2000;
/** Maximum number of lines that differ. */
const maxEdits = 500;
/** Maximum number of operations shown. */
const maxOperations = 100;
/** Longest line, in characters. */
const maxLength = 200;

/** Whether an object has at most so many values; a long text counts as several. */
function isSmall(object: JsonObject): boolean {
  let left = maxValues;
  const fits = (value: Json): boolean => {
    left -= typeof value === 'string' ? 1 + value.length / 40 : 1;
    if (typeof value === 'object') {
      // Not every(): all values of an object of 10^5 keys would be collected first.
      for (const key in value) {
        if (left < 0 || !fits((value as JsonObject)[key] as Json)) {
          return false;
        }
      }
    }
    return left >= 0;
  };
  return fits(object);
}

/** The beginning of a value as JSON, of which the end is cut off. */
function beginning(value: Json): string {
  let left = maxLength;
  return JSON.stringify(value, (_, part: Json) => (left-- > 0 ? part : undefined)).slice(0, 2 * maxLength);
}

/**
 * The difference between two versions of a template as lines of their YAML without secrets, each with `+`, `-`, a space
 * or `@` in front.
 */
export function diffLines({ before, after, ignored }: TemplateChange): string[] {
  const patch =
    isSmall(before) && isSmall(after)
      ? structuredPatch('', '', withoutSecrets(readableYaml(before)), withoutSecrets(readableYaml(after)), '', '', {
          context: 3,
          maxEditLength: maxEdits,
        })
      : undefined;
  const lines =
    patch === undefined
      ? jsonPatchOf(before, after)
          .slice(0, maxOperations)
          .map((operation) => {
            const value = 'value' in operation ? `: ${beginning(operation.value)}` : '';
            return withoutSecrets(` ${operation.op} ${operation.path}${value}`);
          })
      : patch.hunks.flatMap(({ oldStart, newStart, lines: hunk }) => [`@ line ${oldStart}, now ${newStart}`, ...hunk]);
  return lines.length === 0 && ignored.length === 0
    ? [' only values that are not shown here']
    : lines.map((line) => printable(truncated(line, maxLength)));
}
