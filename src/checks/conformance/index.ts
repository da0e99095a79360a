export type { GroupedCheck } from './check.ts';
export { checks } from './checks.ts';
export { reportAsText, reportsAsJunit } from './formats.ts';
export { type ConformanceReport, testConformance } from './report.ts';
