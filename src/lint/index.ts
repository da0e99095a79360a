export type { LintPolicy } from './check.ts';
export { readContext } from './context.ts';
export { type FormatContext, formats } from './formats/index.ts';
export { lint } from './lint.ts';
export type { LintError, LintedObject, LintResult, LintSummary } from './result.ts';
