export type { GroupedCheck } from './check.ts';
export { checks } from './checks.ts';
export { reportsAsJunit } from './formats/junit.ts';
export { reportAsText } from './formats/text.ts';
export { type ConformanceReport, testConformance } from './report.ts';
