export { checks } from './all-checks.ts';
export type { Check } from './define-check.ts';
export { type ConformanceReport, testConformance } from './report.ts';
export { reportAsText } from './report-text.ts';
