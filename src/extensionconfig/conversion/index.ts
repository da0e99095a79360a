export { convert } from './convert.ts';
export { reviewConversion } from './review.ts';
