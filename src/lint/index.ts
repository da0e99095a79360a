export { isExtensionConfig, type LintPolicy } from './check.ts';
export { type DocumentError, type PlacedObject, readDocument } from './document.ts';
export { count, type Format, type FormatContext, formats, printable, showPlace } from './formats/index.ts';
export { type LintRun, lint } from './lint.ts';
export type { LintError, LintedObject, LintFinding, LintResult, LintSummary, Place } from './result.ts';
export { type Source, sourcesOf, systemProblem } from './sources.ts';
export { maxDocumentLength, SplitError, splitDocuments } from './split.ts';
