export { isBase64 } from './base64.ts';
export { bytesOf, percentEncoded } from './byte-text.ts';
export * from './errors/index.ts';
export * from './json/index.ts';
export * from './label-selector.ts';
export * from './names.ts';
export * from './request-uri.ts';
export * from './reviews/index.ts';
export { timeText } from './time.ts';
