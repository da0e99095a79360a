import type { Rule } from '../../rules/index.ts';
import type { LintError, LintedObject, LintSummary } from '../result.ts';

/** What a format needs to know before the first result. */
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

/** Makes control characters visible: file names and values are untrusted, and terminals interpret control characters. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/** `file:line:column`, without what is not known. */
export function showPlace({ file, line, column }: LintError | LintedObject): string {
  return [printable(file), line, column].filter((part) => part !== undefined).join(':');
}

/** `1 warning`, `2 warnings`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
