import type { Schema } from '../../kubernetes/schema/index.ts';

/** What the type tables lack about a field. */
type Rule = Omit<Schema, 'properties'>;

interface ModelRules {
  required?: string[];
  fields?: Record<string, Rule>;
}

const port: Rule = { minimum: 1, maximum: 65_535 };
/** A port by number, or by a name of at most 15 characters (apimachinery, IsValidPortName). */
const portOrName: Rule = { ...port, maxLength: 15, pattern: '^([0-9]-?)*[a-z](-?[a-z0-9])*$' };
const protocol: Rule = { enum: ['TCP', 'UDP', 'SCTP'], default: 'TCP' };
const label: Rule = { maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' };
const natural: Rule = { minimum: 0 };
const positive: Rule = { minimum: 1 };
/** A number, or a percentage. */
const amount: Rule = { minimum: 0, pattern: '^[0-9]+%$' };
const fileMode: Rule = { minimum: 0, maximum: 0o777 };
const replicas: Rule = { minimum: 0, default: 1 };
/** Quantities, which may be written as numbers, too. They are checked by the strategies of workloads. */
const quantities: Rule = { additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true } };
const serviceReference: ModelRules = { required: ['namespace', 'name'], fields: { port: { ...port, default: 443 } } };

const workload: ModelRules = { required: ['selector', 'template'], fields: { minReadySeconds: natural, replicas } };

const webhook: ModelRules = {
  required: ['name', 'clientConfig', 'sideEffects', 'admissionReviewVersions'],
  fields: {
    sideEffects: { enum: ['None', 'NoneOnDryRun'] },
    failurePolicy: { enum: ['Fail', 'Ignore'], default: 'Fail' },
    matchPolicy: { enum: ['Equivalent', 'Exact'], default: 'Equivalent' },
    timeoutSeconds: { minimum: 1, maximum: 30, default: 10 },
  },
};

/**
 * Required fields, bounds and defaults of the API server (kubernetes 1.36: pkg/apis/GROUP/validation and defaults.go of
 * each version) for the kinds that installations of this project have. What depends on several fields is checked by the
 * strategies of the kinds.
 */
export const modelRules: Readonly<Record<string, ModelRules>> = {
  V1OwnerReference: { required: ['apiVersion', 'kind', 'name', 'uid'] },
  V1LabelSelectorRequirement: {
    required: ['key', 'operator'],
    fields: { operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] } },
  },
  V1Secret: { fields: { type: { default: 'Opaque' } } },
  V1ServiceSpec: {
    fields: {
      type: { enum: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'], default: 'ClusterIP' },
      sessionAffinity: { enum: ['ClientIP', 'None'], default: 'None' },
      externalTrafficPolicy: { enum: ['Cluster', 'Local'] },
      internalTrafficPolicy: { enum: ['Cluster', 'Local'] },
    },
  },
  V1ServicePort: {
    required: ['port'],
    fields: { name: label, port, targetPort: portOrName, nodePort: { minimum: 30_000, maximum: 32_767 }, protocol },
  },
  V1PodSpec: {
    required: ['containers'],
    fields: {
      containers: { minItems: 1 },
      restartPolicy: { enum: ['Always', 'OnFailure', 'Never'], default: 'Always' },
      dnsPolicy: { enum: ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'], default: 'ClusterFirst' },
      schedulerName: { default: 'default-scheduler' },
      terminationGracePeriodSeconds: { minimum: 0, default: 30 },
      activeDeadlineSeconds: positive,
    },
  },
  V1Container: {
    required: ['name', 'image'],
    fields: {
      name: label,
      imagePullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
      terminationMessagePath: { default: '/dev/termination-log' },
      terminationMessagePolicy: { enum: ['FallbackToLogsOnError', 'File'], default: 'File' },
    },
  },
  V1ContainerPort: {
    required: ['containerPort'],
    fields: { containerPort: port, hostPort: port, name: portOrName, protocol },
  },
  V1ResourceRequirements: { fields: { limits: quantities, requests: quantities } },
  V1EnvVar: { required: ['name'] },
  V1Volume: { required: ['name'], fields: { name: label } },
  V1VolumeMount: { required: ['name', 'mountPath'] },
  V1KeyToPath: { required: ['key', 'path'], fields: { mode: fileMode } },
  V1SecretVolumeSource: { fields: { defaultMode: { ...fileMode, default: 0o644 } } },
  V1ConfigMapVolumeSource: { fields: { defaultMode: { ...fileMode, default: 0o644 } } },
  V1ProjectedVolumeSource: { fields: { defaultMode: { ...fileMode, default: 0o644 } } },
  V1Probe: {
    fields: {
      initialDelaySeconds: natural,
      timeoutSeconds: { minimum: 1, default: 1 },
      periodSeconds: { minimum: 1, default: 10 },
      successThreshold: { minimum: 1, default: 1 },
      failureThreshold: { minimum: 1, default: 3 },
    },
  },
  V1HTTPGetAction: {
    required: ['port'],
    fields: { port: portOrName, path: { default: '/' }, scheme: { enum: ['HTTP', 'HTTPS'], default: 'HTTP' } },
  },
  V1TCPSocketAction: { required: ['port'], fields: { port: portOrName } },
  V1Toleration: {
    fields: {
      operator: { enum: ['Equal', 'Exists', 'Gt', 'Lt'] },
      effect: { enum: ['', 'NoExecute', 'NoSchedule', 'PreferNoSchedule'] },
    },
  },
  V1TopologySpreadConstraint: {
    required: ['maxSkew', 'topologyKey', 'whenUnsatisfiable'],
    fields: { maxSkew: positive, whenUnsatisfiable: { enum: ['DoNotSchedule', 'ScheduleAnyway'] } },
  },
  V1SeccompProfile: {
    required: ['type'],
    fields: { type: { enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] } },
  },
  V1PodSecurityContext: { fields: { runAsUser: natural, runAsGroup: natural, fsGroup: natural } },
  V1SecurityContext: { fields: { runAsUser: natural, runAsGroup: natural } },
  V1DeploymentSpec: {
    ...workload,
    fields: {
      ...workload.fields,
      revisionHistoryLimit: { minimum: 0, default: 10 },
      progressDeadlineSeconds: { minimum: 0, default: 600 },
    },
  },
  V1DeploymentStrategy: { fields: { type: { enum: ['Recreate', 'RollingUpdate'] } } },
  V1RollingUpdateDeployment: { fields: { maxSurge: amount, maxUnavailable: amount } },
  V1ReplicaSetSpec: { required: ['selector'], fields: { minReadySeconds: natural, replicas } },
  V1StatefulSetSpec: workload,
  V1DaemonSetSpec: { required: ['selector', 'template'], fields: { minReadySeconds: natural } },
  V1JobSpec: {
    required: ['template'],
    fields: {
      parallelism: natural,
      completions: natural,
      backoffLimit: natural,
      activeDeadlineSeconds: natural,
      ttlSecondsAfterFinished: natural,
      completionMode: { enum: ['Indexed', 'NonIndexed'] },
      podReplacementPolicy: { enum: ['Failed', 'TerminatingOrFailed'] },
    },
  },
  V1CronJobSpec: {
    required: ['schedule', 'jobTemplate'],
    fields: {
      concurrencyPolicy: { enum: ['Allow', 'Forbid', 'Replace'], default: 'Allow' },
      suspend: { default: false },
      startingDeadlineSeconds: natural,
      successfulJobsHistoryLimit: { minimum: 0, default: 3 },
      failedJobsHistoryLimit: { minimum: 0, default: 1 },
    },
  },
  V1NetworkPolicySpec: {
    fields: { policyTypes: { maxItems: 2, items: { type: 'string', enum: ['Egress', 'Ingress'] } } },
  },
  V1NetworkPolicyPort: { fields: { port: portOrName, endPort: port, protocol } },
  V1IPBlock: { required: ['cidr'] },
  V1PodDisruptionBudgetSpec: {
    fields: {
      minAvailable: amount,
      maxUnavailable: amount,
      unhealthyPodEvictionPolicy: { enum: ['AlwaysAllow', 'IfHealthyBudget'] },
    },
  },
  V1PriorityClass: {
    required: ['value'],
    fields: { preemptionPolicy: { enum: ['Never', 'PreemptLowerPriority'], default: 'PreemptLowerPriority' } },
  },
  V1PolicyRule: { required: ['verbs'] },
  V1RoleRef: {
    required: ['kind', 'name'],
    fields: { apiGroup: { enum: ['rbac.authorization.k8s.io'], default: 'rbac.authorization.k8s.io' } },
  },
  V1RoleBinding: { required: ['roleRef'] },
  V1ClusterRoleBinding: { required: ['roleRef'] },
  RbacV1Subject: {
    required: ['kind', 'name'],
    fields: { kind: { enum: ['Group', 'ServiceAccount', 'User'] } },
  },
  V1MutatingWebhook: {
    ...webhook,
    fields: { ...webhook.fields, reinvocationPolicy: { enum: ['IfNeeded', 'Never'], default: 'Never' } },
  },
  V1ValidatingWebhook: webhook,
  V1RuleWithOperations: {
    required: ['operations', 'apiGroups', 'apiVersions', 'resources'],
    fields: {
      operations: { minItems: 1, items: { type: 'string', enum: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'] } },
      apiGroups: { minItems: 1 },
      apiVersions: { minItems: 1 },
      resources: { minItems: 1 },
      scope: { enum: ['*', 'Cluster', 'Namespaced'], default: '*' },
    },
  },
  AdmissionregistrationV1ServiceReference: serviceReference,
  ApiextensionsV1ServiceReference: serviceReference,
  ApiregistrationV1ServiceReference: serviceReference,
  V1CustomResourceDefinitionSpec: {
    required: ['group', 'scope'],
    fields: { scope: { enum: ['Cluster', 'Namespaced'] } },
  },
  V1CustomResourceDefinitionNames: { required: ['plural', 'kind'] },
  V1CustomResourceColumnDefinition: {
    required: ['name', 'type', 'jsonPath'],
    fields: { type: { pattern: '^(boolean|date|integer|number|string)$' }, jsonPath: { pattern: '^\\.' } },
  },
  V1CustomResourceSubresourceScale: {
    required: ['specReplicasPath', 'statusReplicasPath'],
    fields: {
      // A longer path would nest deeper than JSON may.
      specReplicasPath: { pattern: '^\\.spec\\.', maxLength: 256 },
      statusReplicasPath: { pattern: '^\\.status\\.', maxLength: 256 },
      labelSelectorPath: { pattern: '^\\.(spec|status)\\.', maxLength: 256 },
    },
  },
  V1SelectableField: { required: ['jsonPath'], fields: { jsonPath: { pattern: '^\\.', maxLength: 1024 } } },
  V1CustomResourceConversion: { required: ['strategy'], fields: { strategy: { enum: ['None', 'Webhook'] } } },
  V1WebhookConversion: { required: ['conversionReviewVersions'] },
  V1APIServiceSpec: {
    required: ['version', 'groupPriorityMinimum', 'versionPriority'],
    fields: {
      groupPriorityMinimum: { minimum: 1, maximum: 20_000 },
      versionPriority: { minimum: 1, maximum: 1000 },
    },
  },
};
