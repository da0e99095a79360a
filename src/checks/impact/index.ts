export { deniedIn, hashOf, type Impact, impactOf, replacedBy, type World } from './impact.ts';
export { cut, impactLines } from './lines.ts';
export { createImpactReviews, type ImpactReviews } from './reviews.ts';
