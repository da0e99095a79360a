export type { ChangeTable } from './change-table.ts';
export { UnlistedDifferenceError } from './compile.ts';
export type { VersionSchema } from './direction.ts';
export {
  type ConversionStep,
  createConverter,
  type KindConverter,
  type VersionChange,
  type VersionMap,
} from './engine.ts';
export { conversionDataAnnotation, extensionConfigConverter, extensionConfigVersions } from './extension-config.ts';
export { createReview, reviewConversion } from './review.ts';
