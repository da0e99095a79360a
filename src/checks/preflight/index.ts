export { examineExtension } from './examine.ts';
export type { Verdict } from './finding.ts';
export { installedRelease } from './installed-release.ts';
export { reportOf } from './report.ts';
export { preflightAsText } from './text.ts';
