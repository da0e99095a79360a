import { yaml } from '../../base/index.ts';
import type { Json } from '../../kubernetes/index.ts';

/** Strings that need no quotes in any version of YAML: nearly all that extensions send. */
const plainText = /^[A-Za-z][A-Za-z.-]{2,99}$/;
/** Words of at least three letters, in lower case, that YAML 1.1 or 1.2 interpret as other values. */
const words = new Set(['null', 'true', 'false', 'yes', 'off']);

/**
 * Strings that some parsers read differently: the merge key, line breaks that only YAML 1.1 has, and blocks that begin
 * with white space (the library counts indentation from another column than Go's parser).
 */
const unsafe = /"<<"|[\u0085\u2028\u2029\ufeff]|"(?: |\\[nt])/;

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
  // Version 1.1 quotes more: `1_000` and `0o7` are strings here, but numbers for some parsers.
  return yaml().stringify(value, { version: '1.1', lineWidth: 0, indent: 4, aliasDuplicateObjects: false });
}
