export { conversionDataAnnotation, maxConversionDataBytes } from './conversion-data.ts';
export { convert } from './convert.ts';
export { reviewConversion } from './review.ts';
