import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import type { LabelSelector } from '../../../kubernetes/index.ts';

/** The address of an extension server. */
export type ClientConfig = NonNullable<NonNullable<ExtensionConfig['spec']>['clientConfig']>;

/** The parts of an ExtensionConfig that calls need. */
export interface Extension {
  name: string;
  /** Distinguishes an object that was created again from its predecessor. */
  uid: string;
  resourceVersion: string;
  clientConfig: ClientConfig;
  /** An absent selector matches nothing. */
  namespaceSelector: LabelSelector | undefined;
  settings: Readonly<Record<string, string>>;
}

/** A handler of an extension server, from discovery. */
export interface RegisteredHandler {
  /** `HANDLER.EXTENSIONCONFIG`. */
  name: string;
  group: string;
  version: string;
  hook: string;
  timeoutSeconds: number;
  failurePolicy: 'Fail' | 'Ignore';
  extension: Extension;
}

/** The extension described by a v1beta2 ExtensionConfig. */
export function extensionOf({ metadata, spec }: ExtensionConfig): Extension {
  const { uid, resourceVersion } = metadata as { uid?: unknown; resourceVersion?: unknown };
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    name: metadata.name ?? '',
    uid: text(uid),
    resourceVersion: text(resourceVersion),
    clientConfig: spec?.clientConfig ?? {},
    namespaceSelector: spec?.namespaceSelector as LabelSelector | undefined,
    settings: spec?.settings ?? {},
  };
}

/**
 * The group and version of an `apiVersion`, as Kubernetes reads it (`ParseGroupVersion` of apimachinery): without a slash
 * it is a version without a group. Undefined for more than two parts.
 */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const [first = '', second, ...more] = apiVersion.split('/');
  if (more.length > 0) {
    return undefined;
  }
  return second === undefined ? { group: '', version: first } : { group: first, version: second };
}
