export type { LintPolicy } from './check.ts';
export { type ManifestContext, readContext } from './context.ts';
export { type Format, type FormatContext, formats } from './formats/index.ts';
export { type LintRun, lint } from './lint.ts';
export type { FilePosition, LintError, LintedObject, LintFinding, LintResult, LintSummary } from './result.ts';
