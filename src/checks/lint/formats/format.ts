import type { Paint } from '../../../base/index.ts';
import type { Rule } from '../../../policy/index.ts';
import type { LintError, LintedObject, LintSummary } from '../result.ts';

/** What a format needs before the first result. */
export interface FormatContext {
  version: string;
  /** All rules that can have findings. */
  rules: readonly Rule[];
  paint: Paint;
}

/** Formats results as they arrive: each function returns the text to print next, which may be empty. */
export interface Format {
  begin(): string;
  object(object: LintedObject): string;
  error(error: LintError): string;
  end(summary: LintSummary): string;
}
