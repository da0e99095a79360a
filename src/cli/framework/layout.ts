import { printableJson } from '../../base/index.ts';
import { readableYaml } from '../../base/yaml/index.ts';
import type { Io } from './program.ts';

/** A table whose columns are as wide as their widest cell; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd((widths[column] ?? 0) + 2))),
    )
    .map((cells) => `${cells.join('')}\n`)
    .join('');
}

export function indentedYaml(value: object): string {
  return readableYaml(value).replaceAll(/^(?=.)/gm, '  ');
}

/** A report in the format that `--output` names; the types ask for one in each format that the flag takes. */
export const inFormat = <F extends string, T>(format: F, reports: { readonly [Format in NoInfer<F>]: () => T }): T =>
  reports[format]();

/** A value as JSON for readers, which ends with a line break. */
export const jsonText = (value: unknown) => `${printableJson(value, 2)}\n`;

/** Writes a report as `--output` says: as text, or a value as JSON. */
export function writeReport({ stdout }: Io, format: 'text' | 'json', value: unknown, text: () => string): void {
  stdout.write(inFormat(format, { text, json: () => jsonText(value) }));
}
