import { stringify } from 'yaml';
import { isPrintableYaml, printableJson } from '../terminal/printable.ts';

/** A value as YAML that is easy to read; texts longer than `lineWidth` are folded, with 0 none. */
export function readableYaml(value: object, lineWidth = 80): string {
  // What other parsers read as a boolean, a number or a time has quotes.
  const text = stringify(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth });
  // JSON is YAML, too, and escapes what must not be printed.
  return isPrintableYaml(text) ? text : `${printableJson(value, 2)}\n`;
}
