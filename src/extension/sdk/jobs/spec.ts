type Names = Readonly<Record<string, string>>;
type Resources = Readonly<Record<string, string | number>>;

/** A variable of the environment. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly configMapKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly fieldRef?: { readonly fieldPath: string; readonly apiVersion?: string };
    readonly resourceFieldRef?: object;
  };
}

/** A container of a Pod (core/v1). What is an `object` here is as in Kubernetes, and not checked. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly object[];
  readonly ports?: readonly object[];
  readonly resources?: {
    readonly requests?: Resources;
    readonly limits?: Resources;
    readonly claims?: readonly object[];
  };
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPath?: string;
    readonly readOnly?: boolean;
  }[];
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
    readonly privileged?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly runAsGroup?: number;
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly seccompProfile?: object;
    readonly seLinuxOptions?: object;
  };
  readonly lifecycle?: object;
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
  readonly startupProbe?: object;
  readonly restartPolicy?: 'Always';
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError';
}

/** The Pod of a Job, whose containers end. */
export interface JobPodSpec {
  readonly restartPolicy: 'Never' | 'OnFailure';
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly ({ readonly name: string } & object)[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly nodeSelector?: Names;
  readonly nodeName?: string;
  readonly affinity?: object;
  readonly tolerations?: readonly object[];
  readonly topologySpreadConstraints?: readonly object[];
  readonly priorityClassName?: string;
  readonly runtimeClassName?: string;
  readonly securityContext?: object;
  readonly activeDeadlineSeconds?: number;
  readonly terminationGracePeriodSeconds?: number;
  readonly enableServiceLinks?: boolean;
  readonly hostNetwork?: boolean;
  readonly dnsPolicy?: string;
  readonly dnsConfig?: object;
}

/** `spec` of a Job (batch/v1). */
export interface JobSpec {
  readonly template: {
    readonly metadata?: { readonly labels?: Names; readonly annotations?: Names };
    readonly spec: JobPodSpec;
  };
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly completionMode?: 'NonIndexed' | 'Indexed';
  readonly completions?: number;
  readonly maxFailedIndexes?: number;
  readonly parallelism?: number;
  readonly podFailurePolicy?: object;
  readonly podReplacementPolicy?: 'TerminatingOrFailed' | 'Failed';
  readonly successPolicy?: object;
  readonly suspend?: boolean;
  readonly ttlSecondsAfterFinished?: number;
}
