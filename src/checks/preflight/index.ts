export { examineExtension, type Verdict } from './examine.ts';
export { installedRelease } from './installed-release.ts';
export { reportOf } from './report.ts';
export { preflightAsText } from './text.ts';
