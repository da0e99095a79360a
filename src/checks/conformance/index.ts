export { checks } from './all-checks.ts';
export type { GroupedCheck } from './check.ts';
export { reportAsText } from './formats.ts';
export { type ConformanceReport, testConformance } from './report.ts';
