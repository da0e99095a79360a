export * from './admission-review.ts';
export * from './conversion-review.ts';
