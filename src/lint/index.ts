export { apiVersionUnknown } from './api-version-unknown.ts';
export type { LintPolicy } from './check.ts';
export { count, type Format, type FormatContext, printable, showPlace } from './formats/format.ts';
export { formats } from './formats/index.ts';
export { type LintRun, lint } from './lint.ts';
export type { LintError, LintedObject, LintFinding, LintResult, LintSummary, Place } from './result.ts';
export { maxDocumentLength } from './split.ts';
