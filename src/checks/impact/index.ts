export { deniedIn, hashOf, type Impact, impactOf, replacedBy, type Watched } from './impact.ts';
export { createImpactReviews, type ImpactReviews } from './reviews.ts';
export { cut, impactLines } from './warnings.ts';
