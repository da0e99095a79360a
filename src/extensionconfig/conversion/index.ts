export type { ChangeTable } from './change-table.ts';
export { UnlistedDifferenceError } from './compile.ts';
export { type ConversionStep, createConverter, type VersionChange, type VersionMap } from './engine.ts';
export { conversionDataAnnotation, extensionConfigConverter } from './extension-config.ts';
export { createReview, reviewConversion } from './review.ts';
