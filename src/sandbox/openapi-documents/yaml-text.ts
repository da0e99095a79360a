import { stringify } from 'yaml';
import { isJsonObject, type Json } from '../../kubernetes/index.ts';

/** Strings that need no quotes in any version of YAML: nearly all that extensions send. */
const plainText = /^[A-Za-z][A-Za-z.-]{2,99}$/;
/** Words of at least three letters, in lower case, that YAML 1.1 or 1.2 interpret as other values. */
const words = new Set(['null', 'true', 'false', 'yes', 'off']);

/**
 * Strings that some parsers read differently: the merge key, octal numbers with a sign (a number for Go's parser alone),
 * line breaks that only YAML 1.1 has, and blocks that begin with white space (the library counts indentation from another
 * column than Go's parser).
 */
const unsafe = /"<<"|"-0o|[\u0085\u2028\u2029\ufeff]|"(?: |\\[nt])/;

/** A JSON value as YAML, in the style of Go's yaml.v3, which API servers write and kubectl reads. */
export function yamlText(value: Json): string {
  if (typeof value === 'boolean' || value === null) {
    return `${value}\n`;
  }
  if (typeof value === 'string' && plainText.test(value) && !words.has(value.toLowerCase())) {
    return `${value}\n`;
  }
  const json = JSON.stringify(value);
  // JSON is also YAML. Go's parser requires top-level blocks to be indented, which the library does not do.
  if (unsafe.test(json) || (typeof value === 'string' && value.includes('\n'))) {
    const escaped = json.replaceAll(
      /[\u0085\u2028\u2029\ufeff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    return `${escaped}\n`;
  }
  return `${linesOf(value, 0).join('\n')}\n`;
}

/** Quotes what version 1.1 (`1_000`, `on`) or 1.2 (`0o7`) takes for something other than a string. */
const options = { version: '1.1', compat: 'core', lineWidth: 0, indent: 4 } as const;

const isBlock = (value: Json) => typeof value === 'object' && value !== null && Object.keys(value).length > 0;

/**
 * The lines of a value, its first at a column. Blocks in a map begin at the next multiple of four: two columns further
 * in a map that is an item of a list, whose dash takes two. The library always indents by four there.
 */
function linesOf(value: Json, column: number): string[] {
  const margin = ' '.repeat(column);
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item) => {
      const [first = '', ...others] = linesOf(item, column + 2);
      return [`${margin}- ${first.trimStart()}`, ...others];
    });
  }
  if (!isJsonObject(value) || !isBlock(value)) {
    return [`${margin}${stringify(value, options).trimEnd()}`];
  }
  const inner = column - (column % 4) + 4;
  return Object.entries(value).flatMap(([key, item]) => {
    const [first = '', ...others] = stringify({ [key]: isBlock(item) ? null : item }, options)
      .trimEnd()
      .split('\n');
    return isBlock(item)
      ? [`${margin}${first.slice(0, -'null'.length).trimEnd()}`, ...linesOf(item, inner)]
      : [`${margin}${first}`, ...others.map((line) => `${' '.repeat(inner)}${line.slice(4)}`)];
  });
}
