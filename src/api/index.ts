export * from './crd.ts';
export * from './decode.ts';
export * from './names.ts';
export type { ExtensionConfig as ExtensionConfigV1Alpha1 } from './v1alpha1.ts';
export type { ExtensionConfig } from './v1beta2.ts';
