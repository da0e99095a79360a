export { type CustomResourceDefinition, crd, openApiSchemaOf } from './api/crd.ts';
export { decodeExtensionConfig } from './api/decode.ts';
export { defaultServicePort, defaultsOf, withAllDefaults, withDefaults } from './api/defaults.ts';
export type { SchemaViolation } from './api/examine.ts';
export * from './api/names.ts';
export type { ExtensionConfig } from './api/v1beta2.generated.ts';
export { conversionDataAnnotation, maxConversionDataBytes } from './conversion/conversion-data.ts';
export { convert } from './conversion/convert.ts';
export { reviewConversion } from './conversion/review.ts';
