export { type LintPolicy, reportsOf } from './check-object.ts';
export { type Format, formats } from './formats.ts';
export { lint } from './lint.ts';
export type { LintError, LintedObject, LintResult, LintSummary } from './result.ts';
export { type RewriteProblem, rewriteManifests } from './rewrite.ts';
