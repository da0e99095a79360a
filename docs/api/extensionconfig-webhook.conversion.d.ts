export type ExtensionConfigObject = Record<string, unknown>;
export declare const extensionConfigVersions: readonly ('v1alpha1' | 'v1beta2')[];
export declare function convertExtensionConfig(object: unknown, version: 'v1alpha1' | 'v1beta2'): ExtensionConfigObject;