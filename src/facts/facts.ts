import type { LabelSelector } from '../kubernetes/index.ts';

/** The kinds of objects with facts. */
export const factKinds = ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service', 'Secret'] as const;
/** A kind of objects with facts. */
export type FactKind = (typeof factKinds)[number];

/**
 * The facts about the cluster that rules may use. Every part is `undefined` while it is not known: rules then report
 * nothing. All lookups are immediate; their cost is proportional to what they find.
 */
export interface Facts {
  readonly extensionConfigs: ExtensionConfigFacts | undefined;
  readonly clusterClasses: ClusterClassFacts | undefined;
  readonly clusters: ClusterFacts | undefined;
  readonly namespaces: NamespaceFacts | undefined;
  readonly services: ServiceFacts | undefined;
  readonly secrets: SecretFacts | undefined;
}

/** An ExtensionConfig as far as other ExtensionConfigs are concerned. */
export interface KnownExtensionConfig {
  readonly name: string;
  /** The address of its server, in the form of `serverAddress`. */
  readonly address: string | undefined;
  readonly namespaceSelector: LabelSelector | undefined;
  /** The Secret of its annotation, as NAMESPACE/NAME. */
  readonly secret: string | undefined;
  /** The hooks of its handlers as `HOOK.GROUP`, each once. */
  readonly hooks: readonly string[];
}

/** ExtensionConfigs by shared properties. */
export interface ExtensionConfigFacts {
  find(name: string): KnownExtensionConfig | undefined;
  /** Those whose server is at an address. */
  byAddress(address: string): Iterable<KnownExtensionConfig>;
  /** Those with a handler of a hook, `HOOK.GROUP`. */
  byHook(hook: string): Iterable<KnownExtensionConfig>;
  /** Those whose annotation names a Secret, `NAMESPACE/NAME`. */
  bySecret(secret: string): Iterable<KnownExtensionConfig>;
}

/** A place in a ClusterClass that names a handler. */
export interface HandlerReference {
  /** NAMESPACE/NAME of the ClusterClass. */
  readonly clusterClass: string;
  /** `spec.patches[0].external.generatePatchesExtension`. */
  readonly field: string;
  /** `HANDLER.EXTENSIONCONFIG`. */
  readonly handler: string;
}

/** ClusterClasses by the handlers that they name. */
export interface ClusterClassFacts {
  /** The places that name a handler of an ExtensionConfig, whether the handler exists or not. */
  namingExtension(extension: string): ReadonlySet<HandlerReference>;
  /** The places that name a handler. */
  namingHandler(handler: string): ReadonlySet<HandlerReference>;
}

/** A Cluster as far as extensions are concerned. */
export interface KnownCluster {
  /** NAMESPACE/NAME. */
  readonly key: string;
  readonly namespace: string;
}

/** Clusters by pending hooks and by class. */
export interface ClusterFacts {
  /** The Clusters that wait for a hook, by the annotation with pending hooks. */
  waitingFor(hook: string): ReadonlySet<KnownCluster>;
  /** The namespaces of the Clusters of a ClusterClass, `NAMESPACE/NAME`, each once. */
  namespacesOfClass(clusterClass: string): Iterable<string>;
}

/** Namespaces by name. */
export interface NamespaceFacts {
  /** Undefined for a namespace that does not exist, or is not known yet. */
  labelsOf(namespace: string): Readonly<Record<string, string>> | undefined;
}

/** The fields of a Service that matter for calls to an extension. */
export interface KnownService {
  /** Empty for a Service of type ExternalName, which takes every port. */
  readonly ports: readonly number[];
}

/** Services by name. */
export interface ServiceFacts {
  /** `absent`: it certainly does not exist; undefined: not known. */
  find(namespace: string, name: string): KnownService | 'absent' | undefined;
}

/** Facts about a Secret whose CA an annotation injects. None of them is secret. */
export interface KnownSecret {
  /** Why `ca.crt` cannot be used (`has no ca.crt`), or undefined. */
  readonly problem: string | undefined;
  /** The certificates of `ca.crt`, as a caBundle; undefined when it cannot be used. */
  readonly caBundle: string | undefined;
  /** When the newest certificate became valid, in milliseconds since 1970. */
  readonly newestNotBefore: number;
  /** When the first certificate expires, in milliseconds since 1970. */
  readonly firstNotAfter: number;
  /** Whether a certificate of `ca.crt` signed the `tls.crt` in the same Secret; undefined without one. */
  readonly isSigner: boolean | undefined;
}

/** Secrets by name. */
export interface SecretFacts {
  /** `absent`: it certainly does not exist; undefined: not known. */
  find(namespace: string, name: string): KnownSecret | 'absent' | undefined;
}
