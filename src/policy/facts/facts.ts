import type { LabelSelector } from '../../kubernetes/index.ts';

export const factKinds = ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service', 'Secret'] as const;
export type FactKind = (typeof factKinds)[number];

/** The facts about the cluster that rules may use. What is unknown is absent: rules then report nothing. Lookups never wait. */
export interface Facts {
  readonly extensionConfigs?: ExtensionConfigFacts | undefined;
  readonly clusterClasses?:
    | {
        /** The places that name a handler of an ExtensionConfig, whether or not the handler exists. */
        namingExtension(extension: string): readonly HandlerReference[];
      }
    | undefined;
  readonly clusters?:
    | {
        waitingFor(hook: string): readonly KnownCluster[];
        /** Those of ClusterClasses, each `NAMESPACE/NAME`. */
        ofClasses(clusterClasses: ReadonlySet<string>): readonly KnownCluster[];
      }
    | undefined;
  readonly namespaces?:
    | {
        /** Undefined for a namespace that does not exist or is not known yet. */
        labelsOf(namespace: string): Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly services?:
    | {
        /** `absent`: it certainly does not exist; undefined: unknown. */
        find(namespace: string, name: string): KnownService | 'absent' | undefined;
      }
    | undefined;
  readonly secrets?: SecretFacts | undefined;
  /** Of cert-manager; only manifests have them. */
  readonly certificates?:
    | {
        /** Those for a DNS name. */
        forName(dnsName: string): readonly KnownCertificate[];
      }
    | undefined;
}

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

export interface ExtensionConfigFacts {
  find(name: string): KnownExtensionConfig | undefined;
  byAddress(address: string): readonly KnownExtensionConfig[];
  byHook(hook: string): readonly KnownExtensionConfig[];
  /** Those whose annotation names this Secret, `NAMESPACE/NAME`. */
  bySecret(secret: string): readonly KnownExtensionConfig[];
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

export interface SecretFacts {
  /** `absent`: it certainly does not exist; undefined: unknown. */
  find(namespace: string, name: string): KnownSecret | 'absent' | undefined;
}

/** A Certificate of cert-manager, and the Secret that it is stored in, both as NAMESPACE/NAME. */
export interface KnownCertificate {
  readonly key: string;
  readonly secret: string;
}
