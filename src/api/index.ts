export * from './crd.ts';
export { decodeExtensionConfig } from './decode.ts';
export { defaultServicePort, defaultsOf, withAllDefaults, withDefaults } from './defaults.ts';
export { maxViolations, type SchemaViolation } from './examine.ts';
export * from './names.ts';
export { maxAnnotationBytes } from './own-schema.ts';
export type { ExtensionConfig as ExtensionConfigV1Alpha1 } from './v1alpha1.ts';
export type { ExtensionConfig } from './v1beta2.ts';
