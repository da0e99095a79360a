export { type ConformanceReport, checks, reportAsText, testConformance } from './report.ts';
export type { Check } from './trial.ts';
