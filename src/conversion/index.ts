export {
  type ConversionStep,
  createConverter,
  type KindConverter,
  type VersionChange,
  type VersionMap,
} from './engine.ts';
export { ConversionError } from './error.ts';
export { conversionDataAnnotation, extensionConfigConverter, extensionConfigVersions } from './extension-config.ts';
export { type ChangeTable, UnlistedDifferenceError, type VersionSchema } from './plan.ts';
export { createReview, reviewConversion } from './review.ts';
