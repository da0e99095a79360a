import type { Rule } from '../../rules/index.ts';
import type { LintError, LintedObject, LintSummary } from '../result.ts';

/** What a format may need to know before the first result. */
export interface FormatContext {
  /** Version of this program. */
  version: string;
  /** All rules that can have findings. */
  rules: readonly Rule[];
  /** Whether to colour: the output is a terminal. */
  useColor: boolean;
}

/** Writes results as they come: each function returns the text to print next, which may be empty. */
export interface Format {
  begin(): string;
  object(object: LintedObject): string;
  error(error: LintError): string;
  end(summary: LintSummary): string;
}

/** Control characters made visible: file names and values come from outside, and a terminal obeys them. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/** `file:line:column`, as far as they are known. */
export function showPlace({ file, line, column }: LintError | LintedObject): string {
  return [printable(file), line, column].filter((part) => part !== undefined).join(':');
}

/** `1 warning`, `2 warnings`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
