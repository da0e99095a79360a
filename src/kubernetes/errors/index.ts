export { ConversionError } from './conversion-error.ts';
export * from './field-path.ts';
export * from './status.ts';
