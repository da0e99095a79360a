export { isExtensionConfig, type LintPolicy } from './check.ts';
export { type ManifestContext, readContext } from './context.ts';
export { count, type Format, type FormatContext, formats, printable, showPlace, xmlText } from './formats/index.ts';
export { type LintRun, lint } from './lint.ts';
export type { FilePosition, LintError, LintedObject, LintFinding, LintResult, LintSummary } from './result.ts';
