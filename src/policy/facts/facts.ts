import type { LabelSelector } from '../../kubernetes/index.ts';

/** The kinds whose objects are all collected. */
export const collectedKinds = ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service'] as const;
export type CollectedKind = (typeof collectedKinds)[number];
export type FactKind = CollectedKind | 'Secret';

/** The parts of an ExtensionConfig that matter to other ExtensionConfigs. */
export interface KnownExtensionConfig {
  readonly name: string;
  /** The address of its server, as returned by `serverAddress`. */
  readonly address: string | undefined;
  readonly namespaceSelector: LabelSelector | undefined;
  /** The Secret in its annotation, as NAMESPACE/NAME. */
  readonly secret: string | undefined;
  /** The hooks of its handlers as `HOOK.GROUP`, each once. */
  readonly hooks: readonly string[];
}

export interface HandlerReference {
  /** NAMESPACE/NAME of the ClusterClass. */
  readonly clusterClass: string;
  /** `spec.patches[0].external.generatePatchesExtension`. */
  readonly field: string;
  /** `HANDLER.EXTENSIONCONFIG`. */
  readonly handler: string;
}

export interface KnownCluster {
  /** NAMESPACE/NAME. */
  readonly key: string;
  readonly namespace: string;
  /** NAMESPACE/NAME of its ClusterClass. */
  readonly clusterClass?: string | undefined;
  /** The hooks that it waits for. */
  readonly pending: readonly string[];
}

export interface KnownService {
  /** Empty for a Service of type ExternalName, which accepts every port. */
  readonly ports: readonly number[];
}

/** Facts about a Secret whose CA an annotation injects. None of them is secret. */
export interface KnownSecret {
  /** Why `ca.crt` cannot be used (`has no ca.crt`), or undefined. */
  readonly problem: string | undefined;
  /** When the newest certificate became valid, in milliseconds since 1970. */
  readonly newestNotBefore: number;
  /** When the first certificate expires, in milliseconds since 1970. */
  readonly firstNotAfter: number;
  /** Whether a certificate in `ca.crt` has signed `tls.crt`; undefined if there is no `tls.crt`. */
  readonly isSigner: boolean | undefined;
}

/** A Certificate of cert-manager, which only manifests have, and the Secret that it is stored in, both as NAMESPACE/NAME. */
export interface KnownCertificate {
  readonly key: string;
  readonly secret: string;
}
