import { fieldAt, type JsonObject } from '../../kubernetes/index.ts';

export const group = 'runtime.cluster.x-k8s.io';
export const kind = 'ExtensionConfig';
/** The versions that are served, oldest first. */
export const versions = ['v1alpha1', 'v1beta2'] as const;
export type Version = (typeof versions)[number];
/** The storage version, which is also the version that admission uses. */
export const hubVersion: Version = 'v1beta2';

/** The annotation that injects `ca.crt` of the Secret NAMESPACE/NAME into `spec.clientConfig.caBundle`. */
export const injectCaFromSecretAnnotation = 'runtime.cluster.x-k8s.io/inject-ca-from-secret';

/** The annotation with which (`true`) an ExtensionConfig may be deleted although it is still needed. */
export const allowDeletionAnnotation = 'extensionconfig-webhook.runtime.cluster.x-k8s.io/allow-deletion';

/** Cluster API's annotation with the pending hooks of a Cluster: names, separated by commas. */
export const pendingHooksAnnotation = 'runtime.cluster.x-k8s.io/pending-hooks';

export const runtimeSdkFeatureGate = 'RuntimeSDK';

export function isVersion(version: string): version is Version {
  return (versions as readonly string[]).includes(version);
}

export const apiVersionOf = (version: Version): string => `${group}/${version}`;

/** The version in an `apiVersion` of ExtensionConfig's group, or undefined for another API or version. */
export function versionOf(apiVersion: unknown): Version | undefined {
  return versions.find((version) => apiVersion === apiVersionOf(version));
}

/** Whether an object is an ExtensionConfig, of any version or without one. */
export function isExtensionConfig({ apiVersion, kind: objectKind }: { apiVersion?: unknown; kind?: unknown }): boolean {
  return (
    objectKind === kind &&
    (typeof apiVersion !== 'string' || !apiVersion.includes('/') || apiVersion.startsWith(`${group}/`))
  );
}

/** Cluster API's annotation that stops reconciliation of an object, whatever its value. */
export const pausedAnnotation = 'cluster.x-k8s.io/paused';

/** Whether Cluster API's controllers leave an object alone. */
export const isPaused = (object: JsonObject): boolean =>
  fieldAt(object, 'spec', 'paused') === true ||
  fieldAt(object, 'metadata', 'annotations', pausedAnnotation) !== undefined;

/** The extension of a handler: what follows the last dot of `HANDLER.EXTENSION`; empty if it names none. */
export const extensionOfHandler = (handler: string): string =>
  handler.includes('.') ? handler.slice(handler.lastIndexOf('.') + 1) : '';
