type Names = Readonly<Record<string, string>>;

/** A container of a Pod (core/v1); what is not named here is as in Kubernetes, and not checked. */
interface JobContainer {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly [field: string]: unknown;
}

/** `spec` of a Job (batch/v1), with the Pod whose containers end; what is not named here is as in Kubernetes, and not checked. */
export interface JobSpec {
  readonly template: {
    readonly metadata?: { readonly labels?: Names; readonly annotations?: Names };
    readonly spec: {
      readonly restartPolicy: 'Never' | 'OnFailure';
      readonly containers: readonly JobContainer[];
      readonly serviceAccountName?: string;
      readonly [field: string]: unknown;
    };
  };
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
  readonly completions?: number;
  readonly parallelism?: number;
  readonly podFailurePolicy?: object;
  readonly suspend?: boolean;
  readonly ttlSecondsAfterFinished?: number;
}
