// Generated from the schemas of the hooks by `npm run generate`. Do not edit.

export type AnyJSON = unknown;
/**
 * A point in time (RFC 3339).
 */
export type MetaTime = string;
/**
 * A number, or a string such as `40%`.
 */
export type IntOrString = number | string;

/**
 * Swap space of a node.
 */
export interface NodeSwapStatus {
  capacity?: number;
}
/**
 * System software and hardware of a node.
 */
export interface NodeSystemInfo {
  machineID: string;
  systemUUID: string;
  bootID: string;
  kernelVersion: string;
  osImage: string;
  containerRuntimeVersion: string;
  kubeletVersion: string;
  kubeProxyVersion: string;
  operatingSystem: string;
  architecture: string;
  swap?: NodeSwapStatus;
}
/**
 * A condition in the Kubernetes format.
 */
export interface MetaCondition {
  type: string;
  status: string;
  lastTransitionTime: MetaTime;
  reason: string;
  message: string;
  observedGeneration?: number;
}
/**
 * A set of fields.
 */
export interface MetaFieldsV1 {
  [k: string]: unknown;
}
/**
 * Selects objects by their labels. All requirements must be met; an empty selector selects everything.
 */
export interface MetaLabelSelector {
  matchExpressions?: MetaLabelSelectorRequirement[];
  matchLabels?: {
    [k: string]: string;
  };
}
/**
 * A requirement for a label.
 */
export interface MetaLabelSelectorRequirement {
  key: string;
  /**
   * In, NotIn, Exists or DoesNotExist.
   */
  operator: string;
  values?: string[];
}
/**
 * Which manager set which fields. Hooks receive objects without it.
 */
export interface MetaManagedFieldsEntry {
  apiVersion?: string;
  fieldsType?: string;
  fieldsV1?: MetaFieldsV1;
  manager?: string;
  operation?: string;
  subresource?: string;
  time?: MetaTime;
}
/**
 * Metadata of an object.
 */
export interface MetaObjectMeta {
  annotations?: {
    [k: string]: string;
  };
  clusterName?: string;
  creationTimestamp?: MetaTime;
  deletionGracePeriodSeconds?: number;
  deletionTimestamp?: MetaTime;
  finalizers?: string[];
  generateName?: string;
  generation?: number;
  labels?: {
    [k: string]: string;
  };
  managedFields?: MetaManagedFieldsEntry[];
  name?: string;
  namespace?: string;
  ownerReferences?: MetaOwnerReference[];
  resourceVersion?: string;
  selfLink?: string;
  uid?: string;
}
/**
 * An object that owns this one.
 */
export interface MetaOwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  /**
   * UID of the owner.
   */
  uid: string;
  blockOwnerDeletion?: boolean;
  controller?: boolean;
}
/**
 * Any Kubernetes object, with apiVersion and kind.
 */
export interface RawExtension {
  [k: string]: unknown;
}
/**
 * Address of the API server of a workload cluster.
 */
export interface APIEndpoint {
  /**
   * Host name or address.
   */
  host?: string;
  /**
   * Port.
   */
  port?: number;
}
/**
 * Source of the bootstrap data that turns a machine into a node.
 */
export interface Bootstrap {
  /**
   * Configuration object of the bootstrap provider.
   */
  configRef?: ContractVersionedObjectReference;
  /**
   * Secret with the data.
   */
  dataSecretName?: string;
}
/**
 * A cluster that Cluster API manages. Hooks receive it without its status.
 */
export interface Cluster {
  spec: ClusterSpec;
  apiVersion?: string;
  kind?: string;
  metadata?: MetaObjectMeta;
  status?: ClusterStatus;
}
/**
 * An additional condition for the availability of a Cluster.
 */
export interface ClusterAvailabilityGate {
  conditionType: string;
  polarity?: string;
}
/**
 * The ClusterClass that a Cluster uses.
 */
export interface ClusterClassRef {
  /**
   * Name of the ClusterClass.
   */
  name: string;
  /**
   * Its namespace; the Cluster's own when absent.
   */
  namespace?: string;
}
/**
 * A variable that Clusters of a ClusterClass may set, and the schema of its value.
 */
export interface ClusterClassVariable {
  /**
   * Name of the variable, 1 to 256 characters; not `builtin`, and without a dot.
   */
  name: string;
  /**
   * Whether every Cluster of the ClusterClass must set it.
   */
  required: boolean;
  schema: VariableSchema;
  deprecatedV1Beta1Metadata?: ClusterClassVariableMetadata;
}
/**
 * Labels and annotations of a variable, carried over from v1beta1.
 */
export interface ClusterClassVariableMetadata {
  annotations?: {
    [k: string]: string;
  };
  labels?: {
    [k: string]: string;
  };
}
/**
 * Counts of control plane machines.
 */
export interface ClusterControlPlaneStatus {
  availableReplicas?: number;
  desiredReplicas?: number;
  readyReplicas?: number;
  replicas?: number;
  upToDateReplicas?: number;
}
/**
 * Status fields of older versions.
 */
export interface ClusterDeprecatedStatus {
  v1beta1?: ClusterV1Beta1DeprecatedStatus;
}
/**
 * Completed initialization steps of a Cluster.
 */
export interface ClusterInitializationStatus {
  controlPlaneInitialized?: boolean;
  infrastructureProvisioned?: boolean;
}
/**
 * Network of the workload cluster.
 */
export interface ClusterNetwork {
  apiServerPort?: number;
  pods?: NetworkRanges;
  serviceDomain?: string;
  services?: NetworkRanges;
}
/**
 * Desired state of a Cluster.
 */
export interface ClusterSpec {
  /**
   * Additional conditions for availability, 1 to 32.
   */
  availabilityGates?: ClusterAvailabilityGate[];
  clusterNetwork?: ClusterNetwork;
  controlPlaneEndpoint?: APIEndpoint;
  /**
   * Control plane object of the provider.
   */
  controlPlaneRef?: ContractVersionedObjectReference;
  /**
   * Infrastructure object of the provider.
   */
  infrastructureRef?: ContractVersionedObjectReference;
  /**
   * Whether controllers skip the Cluster.
   */
  paused?: boolean;
  /**
   * The topology, for Clusters that use a ClusterClass.
   */
  topology?: Topology;
}
/**
 * Observed state of a Cluster.
 */
export interface ClusterStatus {
  conditions?: MetaCondition[];
  controlPlane?: ClusterControlPlaneStatus;
  deprecated?: ClusterDeprecatedStatus;
  failureDomains?: FailureDomain[];
  initialization?: ClusterInitializationStatus;
  observedGeneration?: number;
  phase?: string;
  workers?: WorkersStatus;
}
/**
 * Status fields of v1beta1.
 */
export interface ClusterV1Beta1DeprecatedStatus {
  conditions?: Condition[];
  failureMessage?: string;
  failureReason?: string;
}
/**
 * The value of one variable.
 */
export interface ClusterVariable {
  /**
   * Name of the variable.
   */
  name: string;
  /**
   * Its value, as the schema of the variable describes it.
   */
  value: AnyJSON;
}
/**
 * A condition in the v1beta1 format.
 */
export interface Condition {
  type: string;
  status: string;
  lastTransitionTime: MetaTime;
  message?: string;
  reason?: string;
  severity?: string;
}
/**
 * A reference to an object of a provider; the contract determines its version.
 */
export interface ContractVersionedObjectReference {
  /**
   * Kind of the object.
   */
  kind: string;
  /**
   * Name of the object.
   */
  name: string;
  /**
   * API group of the object.
   */
  apiGroup: string;
}
/**
 * Control plane of the topology.
 */
export interface ControlPlaneTopology {
  deletion?: ControlPlaneTopologyMachineDeletionSpec;
  healthCheck?: ControlPlaneTopologyHealthCheck;
  metadata?: ObjectMeta;
  readinessGates?: MachineReadinessGate[];
  /**
   * Number of control plane machines.
   */
  replicas?: number;
  rollout?: ControlPlaneTopologyRolloutSpec;
  taints?: MachineTaint[];
  variables?: ControlPlaneVariables;
}
/**
 * Health check of control plane machines.
 */
export interface ControlPlaneTopologyHealthCheck {
  checks?: ControlPlaneTopologyHealthCheckChecks;
  enabled?: boolean;
  remediation?: ControlPlaneTopologyHealthCheckRemediation;
}
/**
 * Conditions under which a control plane machine is unhealthy.
 */
export interface ControlPlaneTopologyHealthCheckChecks {
  nodeStartupTimeoutSeconds?: number;
  unhealthyMachineConditions?: UnhealthyMachineCondition[];
  unhealthyNodeConditions?: UnhealthyNodeCondition[];
}
/**
 * Remediation of unhealthy control plane machines.
 */
export interface ControlPlaneTopologyHealthCheckRemediation {
  templateRef?: MachineHealthCheckRemediationTemplateReference;
  triggerIf?: ControlPlaneTopologyHealthCheckRemediationTriggerIf;
}
/**
 * Number of unhealthy machines up to which they are remediated.
 */
export interface ControlPlaneTopologyHealthCheckRemediationTriggerIf {
  unhealthyInRange?: string;
  unhealthyLessThanOrEqualTo?: IntOrString;
}
/**
 * Timeouts for deleting a control plane machine.
 */
export interface ControlPlaneTopologyMachineDeletionSpec {
  nodeDeletionTimeoutSeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
}
/**
 * When control plane machines are rolled out.
 */
export interface ControlPlaneTopologyRolloutSpec {
  after?: MetaTime;
}
/**
 * Overrides of variables for the control plane.
 */
export interface ControlPlaneVariables {
  overrides?: ClusterVariable[];
}
/**
 * A failure domain, for example an availability zone.
 */
export interface FailureDomain {
  name: string;
  attributes?: {
    [k: string]: string;
  };
  controlPlane?: boolean;
}
/**
 * The part of JSON Schema that the schema of a variable may use.
 */
export interface JSONSchemaProps {
  additionalProperties?: JSONSchemaProps;
  allOf?: JSONSchemaProps[];
  anyOf?: JSONSchemaProps[];
  default?: AnyJSON;
  description?: string;
  enum?: AnyJSON[];
  example?: AnyJSON;
  exclusiveMaximum?: boolean;
  exclusiveMinimum?: boolean;
  format?: string;
  items?: JSONSchemaProps;
  maxItems?: number;
  maxLength?: number;
  maxProperties?: number;
  maximum?: number;
  minItems?: number;
  minLength?: number;
  minProperties?: number;
  minimum?: number;
  not?: JSONSchemaProps;
  oneOf?: JSONSchemaProps[];
  pattern?: string;
  properties?: {
    [k: string]: JSONSchemaProps;
  };
  required?: string[];
  type?: string;
  uniqueItems?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-validations'?: ValidationRule[];
  'x-metadata'?: VariableSchemaMetadata;
}
/**
 * A machine of a cluster. Hooks receive it without its status.
 */
export interface Machine {
  spec: MachineSpec;
  apiVersion?: string;
  kind?: string;
  metadata?: MetaObjectMeta;
  status?: MachineStatus;
}
/**
 * An address of a machine.
 */
export interface MachineAddress {
  type: string;
  address: string;
}
/**
 * Timeouts for deleting a machine.
 */
export interface MachineDeletionSpec {
  nodeDeletionTimeoutSeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
}
/**
 * Progress of the deletion of a machine.
 */
export interface MachineDeletionStatus {
  nodeDrainStartTime?: MetaTime;
  waitForNodeVolumeDetachStartTime?: MetaTime;
}
/**
 * A MachineDeployment of the topology.
 */
export interface MachineDeploymentTopology {
  /**
   * Worker class in the ClusterClass.
   */
  class: string;
  /**
   * Name of this MachineDeployment within the topology.
   */
  name: string;
  deletion?: MachineDeploymentTopologyMachineDeletionSpec;
  failureDomain?: string;
  healthCheck?: MachineDeploymentTopologyHealthCheck;
  metadata?: ObjectMeta;
  minReadySeconds?: number;
  readinessGates?: MachineReadinessGate[];
  /**
   * Number of machines.
   */
  replicas?: number;
  rollout?: MachineDeploymentTopologyRolloutSpec;
  taints?: MachineTaint[];
  variables?: MachineDeploymentVariables;
}
/**
 * Health check of the machines of a MachineDeployment.
 */
export interface MachineDeploymentTopologyHealthCheck {
  checks?: MachineDeploymentTopologyHealthCheckChecks;
  enabled?: boolean;
  remediation?: MachineDeploymentTopologyHealthCheckRemediation;
}
/**
 * Conditions under which a machine of a MachineDeployment is unhealthy.
 */
export interface MachineDeploymentTopologyHealthCheckChecks {
  nodeStartupTimeoutSeconds?: number;
  unhealthyMachineConditions?: UnhealthyMachineCondition[];
  unhealthyNodeConditions?: UnhealthyNodeCondition[];
}
/**
 * Remediation of unhealthy machines of a MachineDeployment.
 */
export interface MachineDeploymentTopologyHealthCheckRemediation {
  maxInFlight?: IntOrString;
  templateRef?: MachineHealthCheckRemediationTemplateReference;
  triggerIf?: MachineDeploymentTopologyHealthCheckRemediationTriggerIf;
}
/**
 * Number of unhealthy machines up to which they are remediated.
 */
export interface MachineDeploymentTopologyHealthCheckRemediationTriggerIf {
  unhealthyInRange?: string;
  unhealthyLessThanOrEqualTo?: IntOrString;
}
/**
 * Deletion of machines of a MachineDeployment: order and timeouts.
 */
export interface MachineDeploymentTopologyMachineDeletionSpec {
  nodeDeletionTimeoutSeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
  order?: string;
}
/**
 * How machines of a MachineDeployment are replaced.
 */
export interface MachineDeploymentTopologyRolloutSpec {
  after?: MetaTime;
  strategy?: MachineDeploymentTopologyRolloutStrategy;
}
/**
 * Strategy for replacing old machines with new ones.
 */
export interface MachineDeploymentTopologyRolloutStrategy {
  type: string;
  rollingUpdate?: MachineDeploymentTopologyRolloutStrategyRollingUpdate;
}
/**
 * Limits of a rolling update.
 */
export interface MachineDeploymentTopologyRolloutStrategyRollingUpdate {
  maxSurge?: IntOrString;
  maxUnavailable?: IntOrString;
}
/**
 * Overrides of variables for a MachineDeployment.
 */
export interface MachineDeploymentVariables {
  overrides?: ClusterVariable[];
}
/**
 * Status fields of older versions.
 */
export interface MachineDeprecatedStatus {
  v1beta1?: MachineV1Beta1DeprecatedStatus;
}
/**
 * Reference to a template for objects that remediate machines.
 */
export interface MachineHealthCheckRemediationTemplateReference {
  kind: string;
  name: string;
  apiVersion: string;
}
/**
 * Completed initialization steps of a machine.
 */
export interface MachineInitializationStatus {
  bootstrapDataSecretCreated?: boolean;
  infrastructureProvisioned?: boolean;
}
/**
 * Naming of machines.
 */
export interface MachineNamingSpec {
  template?: string;
}
/**
 * Reference to the node of a machine.
 */
export interface MachineNodeReference {
  name: string;
}
/**
 * A MachinePool of the topology.
 */
export interface MachinePoolTopology {
  /**
   * Worker class in the ClusterClass.
   */
  class: string;
  /**
   * Name of this MachinePool within the topology.
   */
  name: string;
  deletion?: MachinePoolTopologyMachineDeletionSpec;
  failureDomains?: string[];
  metadata?: ObjectMeta;
  minReadySeconds?: number;
  /**
   * Number of machines.
   */
  replicas?: number;
  taints?: MachineTaint[];
  variables?: MachinePoolVariables;
}
/**
 * Timeouts for deleting a machine of a MachinePool.
 */
export interface MachinePoolTopologyMachineDeletionSpec {
  nodeDeletionTimeoutSeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
}
/**
 * Overrides of variables for a MachinePool.
 */
export interface MachinePoolVariables {
  overrides?: ClusterVariable[];
}
/**
 * An additional condition for the readiness of a machine.
 */
export interface MachineReadinessGate {
  conditionType: string;
  polarity?: string;
}
/**
 * A set of identical machines. Hooks receive it without its status.
 */
export interface MachineSet {
  spec: MachineSetSpec;
  apiVersion?: string;
  kind?: string;
  metadata?: MetaObjectMeta;
  status?: MachineSetStatus;
}
/**
 * Order in which machines of a MachineSet are deleted.
 */
export interface MachineSetDeletionSpec {
  order?: string;
}
/**
 * Status fields of older versions.
 */
export interface MachineSetDeprecatedStatus {
  v1beta1?: MachineSetV1Beta1DeprecatedStatus;
}
/**
 * Desired state of a MachineSet.
 */
export interface MachineSetSpec {
  /**
   * The Cluster that the machines belong to.
   */
  clusterName: string;
  selector: MetaLabelSelector;
  template: MachineTemplateSpec;
  deletion?: MachineSetDeletionSpec;
  machineNaming?: MachineNamingSpec;
  /**
   * Number of machines.
   */
  replicas?: number;
}
/**
 * Observed state of a MachineSet.
 */
export interface MachineSetStatus {
  availableReplicas?: number;
  conditions?: MetaCondition[];
  deprecated?: MachineSetDeprecatedStatus;
  observedGeneration?: number;
  readyReplicas?: number;
  replicas?: number;
  selector?: string;
  upToDateReplicas?: number;
}
/**
 * Status fields of v1beta1.
 */
export interface MachineSetV1Beta1DeprecatedStatus {
  availableReplicas?: number;
  conditions?: Condition[];
  failureMessage?: string;
  failureReason?: string;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
}
/**
 * Desired state of a machine.
 */
export interface MachineSpec {
  /**
   * The Cluster that the machine belongs to.
   */
  clusterName: string;
  bootstrap: Bootstrap;
  infrastructureRef: ContractVersionedObjectReference;
  deletion?: MachineDeletionSpec;
  /**
   * Failure domain of the machine.
   */
  failureDomain?: string;
  minReadySeconds?: number;
  /**
   * ID of the machine at its provider.
   */
  providerID?: string;
  readinessGates?: MachineReadinessGate[];
  taints?: MachineTaint[];
  /**
   * Kubernetes version of the machine.
   */
  version?: string;
}
/**
 * Observed state of a machine.
 */
export interface MachineStatus {
  addresses?: MachineAddress[];
  certificatesExpiryDate?: MetaTime;
  conditions?: MetaCondition[];
  deletion?: MachineDeletionStatus;
  deprecated?: MachineDeprecatedStatus;
  failureDomain?: string;
  initialization?: MachineInitializationStatus;
  lastUpdated?: MetaTime;
  nodeInfo?: NodeSystemInfo;
  nodeRef?: MachineNodeReference;
  observedGeneration?: number;
  phase?: string;
}
/**
 * A taint that Cluster API puts on the node of a machine.
 */
export interface MachineTaint {
  key: string;
  effect: string;
  propagation: string;
  value?: string;
}
/**
 * Template for the machines of a MachineSet.
 */
export interface MachineTemplateSpec {
  spec: MachineSpec;
  metadata?: ObjectMeta;
}
/**
 * Status fields of v1beta1.
 */
export interface MachineV1Beta1DeprecatedStatus {
  conditions?: Condition[];
  failureMessage?: string;
  failureReason?: string;
}
/**
 * Ranges of IP addresses.
 */
export interface NetworkRanges {
  /**
   * Ranges in CIDR notation.
   */
  cidrBlocks: string[];
}
/**
 * Labels and annotations for the objects that are created.
 */
export interface ObjectMeta {
  annotations?: {
    [k: string]: string;
  };
  labels?: {
    [k: string]: string;
  };
}
/**
 * The topology of a Cluster that uses a ClusterClass.
 */
export interface Topology {
  /**
   * The ClusterClass.
   */
  classRef: ClusterClassRef;
  /**
   * Kubernetes version of the cluster.
   */
  version: string;
  controlPlane?: ControlPlaneTopology;
  /**
   * Values of variables for the whole cluster.
   */
  variables?: ClusterVariable[];
  workers?: WorkersTopology;
}
/**
 * A Machine condition that, after a timeout, makes the machine unhealthy.
 */
export interface UnhealthyMachineCondition {
  type: string;
  status: string;
  timeoutSeconds: number;
}
/**
 * A node condition that, after a timeout, makes its machine unhealthy.
 */
export interface UnhealthyNodeCondition {
  type: string;
  status: string;
  timeoutSeconds: number;
}
/**
 * A CEL rule that values must satisfy.
 */
export interface ValidationRule {
  /**
   * The expression; `self` is the value.
   */
  rule: string;
  message?: string;
  fieldPath?: string;
  messageExpression?: string;
  reason?: string;
}
/**
 * The schema of the values of a variable.
 */
export interface VariableSchema {
  openAPIV3Schema: JSONSchemaProps;
}
/**
 * Labels and annotations of a variable.
 */
export interface VariableSchemaMetadata {
  annotations?: {
    [k: string]: string;
  };
  labels?: {
    [k: string]: string;
  };
}
/**
 * Counts of worker machines.
 */
export interface WorkersStatus {
  availableReplicas?: number;
  desiredReplicas?: number;
  readyReplicas?: number;
  replicas?: number;
  upToDateReplicas?: number;
}
/**
 * Workers of the topology.
 */
export interface WorkersTopology {
  machineDeployments?: MachineDeploymentTopology[];
  machinePools?: MachinePoolTopology[];
}
/**
 * An upgrade is complete.
 */
export interface AfterClusterUpgradeRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Version that the Cluster now has.
   */
  kubernetesVersion: string;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
}
/**
 * Whether the next upgrade may begin.
 */
export interface AfterClusterUpgradeResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Seconds to wait before the hook is called again; 0 does not wait.
   */
  retryAfterSeconds: number;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * The control plane of a Cluster is initialized.
 */
export interface AfterControlPlaneInitializedRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
}
/**
 * Whether the extension did its work.
 */
export interface AfterControlPlaneInitializedResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * The control plane has taken a step.
 */
export interface AfterControlPlaneUpgradeRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Version that the control plane now has.
   */
  kubernetesVersion: string;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * Steps of the control plane that are still to come.
   */
  controlPlaneUpgrades?: UpgradeStepInfo[];
  /**
   * Steps of the workers that are still to come.
   */
  workersUpgrades?: UpgradeStepInfo[];
}
/**
 * Whether the upgrade may go on.
 */
export interface AfterControlPlaneUpgradeResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Seconds to wait before the hook is called again; 0 does not wait.
   */
  retryAfterSeconds: number;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * The workers have taken a step.
 */
export interface AfterWorkersUpgradeRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Version that the workers now have.
   */
  kubernetesVersion: string;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * Steps of the control plane that are still to come.
   */
  controlPlaneUpgrades?: UpgradeStepInfo[];
  /**
   * Steps of the workers that are still to come.
   */
  workersUpgrades?: UpgradeStepInfo[];
}
/**
 * Whether the upgrade may go on.
 */
export interface AfterWorkersUpgradeResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Seconds to wait before the hook is called again; 0 does not wait.
   */
  retryAfterSeconds: number;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * A Cluster is about to be created.
 */
export interface BeforeClusterCreateRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
}
/**
 * Whether the creation may begin.
 */
export interface BeforeClusterCreateResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Seconds to wait before the hook is called again; 0 does not wait.
   */
  retryAfterSeconds: number;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * A Cluster is about to be deleted.
 */
export interface BeforeClusterDeleteRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
}
/**
 * Whether the deletion may begin.
 */
export interface BeforeClusterDeleteResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Seconds to wait before the hook is called again; 0 does not wait.
   */
  retryAfterSeconds: number;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * An upgrade is about to begin.
 */
export interface BeforeClusterUpgradeRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Version that the control plane has.
   */
  fromKubernetesVersion: string;
  /**
   * Version that the upgrade ends with.
   */
  toKubernetesVersion: string;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * Steps of the control plane that are still to come.
   */
  controlPlaneUpgrades?: UpgradeStepInfo[];
  /**
   * Steps of the workers that are still to come.
   */
  workersUpgrades?: UpgradeStepInfo[];
}
/**
 * Whether the upgrade may begin.
 */
export interface BeforeClusterUpgradeResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Seconds to wait before the hook is called again; 0 does not wait.
   */
  retryAfterSeconds: number;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * The control plane is about to take a step.
 */
export interface BeforeControlPlaneUpgradeRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Version that the control plane has.
   */
  fromKubernetesVersion: string;
  /**
   * Version that this step ends with.
   */
  toKubernetesVersion: string;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * Steps of the control plane that are still to come.
   */
  controlPlaneUpgrades?: UpgradeStepInfo[];
  /**
   * Steps of the workers that are still to come.
   */
  workersUpgrades?: UpgradeStepInfo[];
}
/**
 * Whether the step may begin.
 */
export interface BeforeControlPlaneUpgradeResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Seconds to wait before the hook is called again; 0 does not wait.
   */
  retryAfterSeconds: number;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * The workers are about to take a step.
 */
export interface BeforeWorkersUpgradeRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Lowest version of any worker.
   */
  fromKubernetesVersion: string;
  /**
   * Version that this step ends with: that of the control plane.
   */
  toKubernetesVersion: string;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * Steps of the control plane that are still to come.
   */
  controlPlaneUpgrades?: UpgradeStepInfo[];
  /**
   * Steps of the workers that are still to come.
   */
  workersUpgrades?: UpgradeStepInfo[];
}
/**
 * Whether the step may begin.
 */
export interface BeforeWorkersUpgradeResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Seconds to wait before the hook is called again; 0 does not wait.
   */
  retryAfterSeconds: number;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * A machine as it is, and as it should be.
 */
export interface CanUpdateMachineRequest {
  /**
   * Current state.
   */
  current: CanUpdateMachineRequestObjects;
  /**
   * Desired state.
   */
  desired: CanUpdateMachineRequestObjects;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
}
/**
 * A machine with the objects that belong to it.
 */
export interface CanUpdateMachineRequestObjects {
  /**
   * The Machine.
   */
  machine: Machine;
  /**
   * Its infrastructure machine.
   */
  infrastructureMachine: RawExtension;
  /**
   * Its bootstrap configuration.
   */
  bootstrapConfig?: RawExtension;
}
/**
 * The changes that can be made in place, as patches to the current state.
 */
export interface CanUpdateMachineResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
  /**
   * Patch of the bootstrap configuration.
   */
  bootstrapConfigPatch?: Patch;
  /**
   * Patch of the infrastructure machine.
   */
  infrastructureMachinePatch?: Patch;
  /**
   * Patch of the Machine.
   */
  machinePatch?: Patch;
}
/**
 * The current and the desired state of a set of machines.
 */
export interface CanUpdateMachineSetRequest {
  /**
   * Current state.
   */
  current: CanUpdateMachineSetRequestObjects;
  /**
   * Desired state.
   */
  desired: CanUpdateMachineSetRequestObjects;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
}
/**
 * A set of machines with the templates that belong to it.
 */
export interface CanUpdateMachineSetRequestObjects {
  /**
   * The MachineSet.
   */
  machineSet: MachineSet;
  /**
   * Template of its infrastructure machines.
   */
  infrastructureMachineTemplate: RawExtension;
  /**
   * Template of its bootstrap configurations.
   */
  bootstrapConfigTemplate?: RawExtension;
}
/**
 * The changes that can be made in place, as patches to the current state.
 */
export interface CanUpdateMachineSetResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
  /**
   * Patch of the template of bootstrap configurations.
   */
  bootstrapConfigTemplatePatch?: Patch;
  /**
   * Patch of the template of infrastructure machines.
   */
  infrastructureMachineTemplatePatch?: Patch;
  /**
   * Patch of the MachineSet.
   */
  machineSetPatch?: Patch;
}
/**
 * A request for the variables that an external patch needs.
 */
export interface DiscoverVariablesRequest {
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
}
/**
 * Variables, with the schemas of their values.
 */
export interface DiscoverVariablesResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
  /**
   * The variables.
   */
  variables?: ClusterClassVariable[];
}
/**
 * A request for the handlers of an extension server.
 */
export interface DiscoveryRequest {
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
}
/**
 * The handlers of an extension server.
 */
export interface DiscoveryResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
  /**
   * The handlers; there may be none.
   */
  handlers?: ExtensionHandler[];
}
/**
 * A handler that an extension server offers.
 */
export interface ExtensionHandler {
  /**
   * Name: an RFC 1123 label, unique on the whole server.
   */
  name: string;
  /**
   * The hook that it serves.
   */
  requestHook: GroupVersionHook;
  /**
   * How a failed call is handled: `Fail` (default) or `Ignore`.
   */
  failurePolicy?: string;
  /**
   * How long a call may take, 1 to 30 seconds; 10 when it is absent or 0.
   */
  timeoutSeconds?: number;
}
/**
 * Templates that may be patched.
 */
export interface GeneratePatchesRequest {
  /**
   * The templates.
   */
  items: GeneratePatchesRequestItem[];
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * Variables of the whole cluster; those of an item take precedence.
   */
  variables?: Variable[];
}
/**
 * One template that may be patched.
 */
export interface GeneratePatchesRequestItem {
  /**
   * Identity of the item within this request; patches name it.
   */
  uid: string;
  /**
   * Where the template is used.
   */
  holderReference: HolderReference;
  /**
   * The template, with the patches so far applied.
   */
  object: RawExtension;
  /**
   * Variables of that place; they take precedence over those of the whole request.
   */
  variables?: Variable[];
}
/**
 * Patches to templates.
 */
export interface GeneratePatchesResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
  /**
   * The patches, applied in this order.
   */
  items?: GeneratePatchesResponseItem[];
}
/**
 * One patch to one template.
 */
export interface GeneratePatchesResponseItem {
  /**
   * The item of the request that is patched.
   */
  uid: string;
  /**
   * `JSONPatch` (RFC 6902) or `JSONMergePatch` (RFC 7396).
   */
  patchType: string;
  /**
   * The patch, as base64 of its JSON.
   */
  patch: string;
}
/**
 * An upgrade that needs a plan.
 */
export interface GenerateUpgradePlanRequest {
  /**
   * The Cluster, without its status.
   */
  cluster: Cluster;
  /**
   * Version that the control plane has.
   */
  fromControlPlaneKubernetesVersion: string;
  /**
   * Version that the upgrade ends with.
   */
  toKubernetesVersion: string;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * Lowest version of any worker; absent without workers.
   */
  fromWorkersKubernetesVersion?: string;
}
/**
 * The plan.
 */
export interface GenerateUpgradePlanResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
  /**
   * Steps of the control plane; none when it is at the target.
   */
  controlPlaneUpgrades?: UpgradeStep[];
  /**
   * Steps of the workers; none lets Cluster API choose.
   */
  workersUpgrades?: UpgradeStep[];
}
/**
 * A hook in one version.
 */
export interface GroupVersionHook {
  /**
   * Group and version of the hook.
   */
  apiVersion: string;
  /**
   * Name of the hook, in its exact case.
   */
  hook: string;
}
/**
 * The field of the object that uses the template.
 */
export interface HolderReference {
  /**
   * API version of the object.
   */
  apiVersion: string;
  /**
   * Kind of the object.
   */
  kind: string;
  /**
   * Namespace of the object.
   */
  namespace: string;
  /**
   * Name of the object.
   */
  name: string;
  /**
   * The field that refers to the template.
   */
  fieldPath: string;
}
/**
 * A patch to one object.
 */
export interface Patch {
  /**
   * `JSONPatch` (RFC 6902) or `JSONMergePatch` (RFC 7396).
   */
  patchType: string;
  /**
   * The patch, as base64 of its JSON.
   */
  patch: string;
}
/**
 * The desired state of a machine.
 */
export interface UpdateMachineRequest {
  /**
   * Desired state.
   */
  desired: UpdateMachineRequestObjects;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
}
/**
 * A machine with the objects that belong to it.
 */
export interface UpdateMachineRequestObjects {
  /**
   * The Machine.
   */
  machine: Machine;
  /**
   * Its infrastructure machine.
   */
  infrastructureMachine: RawExtension;
  /**
   * Its bootstrap configuration.
   */
  bootstrapConfig?: RawExtension;
}
/**
 * Progress of the update: retryAfterSeconds 0 means done.
 */
export interface UpdateMachineResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Seconds to wait before the hook is called again; 0 does not wait.
   */
  retryAfterSeconds: number;
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * One step of an upgrade plan.
 */
export interface UpgradeStep {
  /**
   * Kubernetes version that the step ends with.
   */
  version: string;
}
/**
 * One remaining step of the upgrade.
 */
export interface UpgradeStepInfo {
  /**
   * Kubernetes version that the step ends with.
   */
  version: string;
}
/**
 * Templates with all patches applied.
 */
export interface ValidateTopologyRequest {
  /**
   * The templates.
   */
  items: ValidateTopologyRequestItem[];
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Settings of the ExtensionConfig, overlaid by those of the patch in the ClusterClass.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * Variables of the whole cluster; those of an item take precedence.
   */
  variables?: Variable[];
}
/**
 * One template, as patched.
 */
export interface ValidateTopologyRequestItem {
  /**
   * Where the template is used.
   */
  holderReference: HolderReference;
  /**
   * The template, with all patches applied.
   */
  object: RawExtension;
  /**
   * Variables of that place; they take precedence over those of the whole request.
   */
  variables?: Variable[];
}
/**
 * Whether the topology is valid.
 */
export interface ValidateTopologyResponse {
  /**
   * Whether the extension did its work; `Failure` makes the caller fail.
   */
  status: 'Failure' | 'Success';
  /**
   * Group and version of the hook.
   */
  apiVersion?: string;
  /**
   * Kind of the message.
   */
  kind?: string;
  /**
   * Text that users read in conditions: the same for the same cause, without secrets.
   */
  message?: string;
}
/**
 * The value of a variable.
 */
export interface Variable {
  /**
   * Name of the variable; `builtin` has the values that Cluster API provides.
   */
  name: string;
  /**
   * The value.
   */
  value: AnyJSON;
}
