export { deniedIn, hashOf, type Impact, impactOf, replacedBy, type Watched } from './impact.ts';
export { cut, impactLines } from './lines.ts';
export { createImpactReviews, type ImpactReviews } from './reviews.ts';
