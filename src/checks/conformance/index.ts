export type { Check } from './define-check.ts';
export { type ConformanceReport, checks, testConformance } from './report.ts';
export { reportAsText } from './report-text.ts';
