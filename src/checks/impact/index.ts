export { type Impact, impactOf, type Watched } from './impact.ts';
export { lossesOf } from './losses.ts';
export { hashOf, verdictOf } from './permission.ts';
export { createImpactMetrics, createImpactReviews, type ImpactReviews } from './reviews.ts';
export { cut, impactLines } from './warnings.ts';
