export { type LintPolicy, reportsOf } from './check.ts';
export { readManifestFacts } from './facts.ts';
export { formats } from './formats/formats.ts';
export { lint } from './lint.ts';
export type { FormatContext, LintError, LintedObject, LintResult, LintSummary } from './result.ts';
export { type RewriteProblem, rewriteManifests } from './rewrite.ts';
