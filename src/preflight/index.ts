export { type ExtensionFacts, type ExtensionVerdict, examineExtension, type Upgrade } from './examine.ts';
export type { PreflightFinding, Verdict } from './finding.ts';
export { installedRelease } from './installed-release.ts';
export { type PreflightReport, reportOf } from './report.ts';
export { preflightAsText } from './text.ts';
export { type WireChange, wireChangesBetween } from './wire-changes.ts';
