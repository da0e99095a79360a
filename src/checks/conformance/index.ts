export type { GroupedCheck } from './check.ts';
export { checks } from './checks.ts';
export { reportAsText } from './formats.ts';
export { type ConformanceReport, testConformance } from './report.ts';
