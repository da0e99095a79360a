interface Release {
  major: number;
  minor: number;
  patch?: number;
}
export declare function parseRelease(text: string): Release | undefined;
interface LifecycleKey {
  readonly group: string;
  readonly version: string;
  readonly name: string;
}
interface Lifecycle extends LifecycleKey {
  readonly introduced: Release;
  readonly deprecated?: {
    readonly release: Release;
    readonly date: string;
  };
  readonly removed?: Release;
  readonly replacedBy?: LifecycleKey;
  readonly singleton?: boolean;
  readonly blockingSince?: Release;
}
interface MessageSchema {
  $ref?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  format?: string;
  description?: string;
  example?: unknown;
  enum?: readonly string[];
  required?: readonly string[];
  properties?: Readonly<Record<string, MessageSchema>>;
  additionalProperties?: MessageSchema;
  items?: MessageSchema;
  allOf?: readonly MessageSchema[];
  oneOf?: readonly MessageSchema[];
  'x-kubernetes-list-type'?: 'map' | 'atomic';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'atomic';
}
interface HookDefinition<Request = object, Response = object> extends Lifecycle {
  readonly summary: string;
  readonly purpose: string;
  readonly tags: readonly string[];
  readonly calls: 'server' | 'all' | 'named' | 'only';
  readonly about: 'Cluster' | 'topology' | 'Machine' | 'MachineSet' | undefined;
  readonly isQuestion: boolean;
  readonly isBlocking: boolean;
  readonly request: MessageDefinition;
  readonly response: MessageDefinition;
  readonly changes: readonly ReleaseChange[];
  readonly types?: {
    readonly request: Request;
    readonly response: Response;
  };
}
interface MessageDefinition {
  readonly kind: string;
  readonly component: string;
  readonly schema: MessageSchema;
  readonly fieldsSince: Readonly<Record<string, Release>>;
}
interface ReleaseChange {
  readonly release: Release;
  readonly text: string;
  readonly isBreaking: boolean;
  readonly remedy: string;
  readonly coreBefore?: CoreVersion;
}
type CoreVersion = 'v1beta1' | 'v1beta2';
type RequestOf<Hook> = Hook extends HookDefinition<infer Request, infer _> ? Request : never;
type ResponseOf<Hook> = Hook extends HookDefinition<infer _, infer Response> ? Response : never;
type AnyJSON = unknown;
type MetaTime = string;
type IntOrString = number | string;
interface NodeSwapStatus {
  capacity?: number;
}
interface NodeSystemInfo {
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
interface MetaCondition {
  type: string;
  status: string;
  lastTransitionTime: MetaTime;
  reason: string;
  message: string;
  observedGeneration?: number;
}
interface MetaFieldsV1 {
  [k: string]: unknown;
}
interface MetaLabelSelector {
  matchExpressions?: MetaLabelSelectorRequirement[];
  matchLabels?: {
    [k: string]: string;
  };
}
interface MetaLabelSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}
interface MetaManagedFieldsEntry {
  apiVersion?: string;
  fieldsType?: string;
  fieldsV1?: MetaFieldsV1;
  manager?: string;
  operation?: string;
  subresource?: string;
  time?: MetaTime;
}
interface MetaObjectMeta {
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
interface MetaOwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  blockOwnerDeletion?: boolean;
  controller?: boolean;
}
interface RawExtension {
  [k: string]: unknown;
}
interface APIEndpoint {
  host?: string;
  port?: number;
}
interface Bootstrap {
  configRef?: ContractVersionedObjectReference;
  dataSecretName?: string;
}
interface Cluster {
  spec: ClusterSpec;
  apiVersion?: string;
  kind?: string;
  metadata?: MetaObjectMeta;
  status?: ClusterStatus;
}
interface ClusterAvailabilityGate {
  conditionType: string;
  polarity?: string;
}
interface ClusterClassRef {
  name: string;
  namespace?: string;
}
interface ClusterClassVariable {
  name: string;
  required: boolean;
  schema: VariableSchema;
  deprecatedV1Beta1Metadata?: ClusterClassVariableMetadata;
}
interface ClusterClassVariableMetadata {
  annotations?: {
    [k: string]: string;
  };
  labels?: {
    [k: string]: string;
  };
}
interface ClusterControlPlaneStatus {
  availableReplicas?: number;
  desiredReplicas?: number;
  readyReplicas?: number;
  replicas?: number;
  upToDateReplicas?: number;
}
interface ClusterDeprecatedStatus {
  v1beta1?: ClusterV1Beta1DeprecatedStatus;
}
interface ClusterInitializationStatus {
  controlPlaneInitialized?: boolean;
  infrastructureProvisioned?: boolean;
}
interface ClusterNetwork {
  apiServerPort?: number;
  pods?: NetworkRanges;
  serviceDomain?: string;
  services?: NetworkRanges;
}
interface ClusterSpec {
  availabilityGates?: ClusterAvailabilityGate[];
  clusterNetwork?: ClusterNetwork;
  controlPlaneEndpoint?: APIEndpoint;
  controlPlaneRef?: ContractVersionedObjectReference;
  infrastructureRef?: ContractVersionedObjectReference;
  paused?: boolean;
  topology?: Topology;
}
interface ClusterStatus {
  conditions?: MetaCondition[];
  controlPlane?: ClusterControlPlaneStatus;
  deprecated?: ClusterDeprecatedStatus;
  failureDomains?: FailureDomain[];
  initialization?: ClusterInitializationStatus;
  observedGeneration?: number;
  phase?: string;
  workers?: WorkersStatus;
}
interface ClusterV1Beta1DeprecatedStatus {
  conditions?: Condition[];
  failureMessage?: string;
  failureReason?: string;
}
interface ClusterVariable {
  name: string;
  value: AnyJSON;
}
interface Condition {
  type: string;
  status: string;
  lastTransitionTime: MetaTime;
  message?: string;
  reason?: string;
  severity?: string;
}
interface ContractVersionedObjectReference {
  kind: string;
  name: string;
  apiGroup: string;
}
interface ControlPlaneTopology {
  deletion?: ControlPlaneTopologyMachineDeletionSpec;
  healthCheck?: ControlPlaneTopologyHealthCheck;
  metadata?: ObjectMeta;
  readinessGates?: MachineReadinessGate[];
  replicas?: number;
  rollout?: ControlPlaneTopologyRolloutSpec;
  taints?: MachineTaint[];
  variables?: ControlPlaneVariables;
}
interface ControlPlaneTopologyHealthCheck {
  checks?: ControlPlaneTopologyHealthCheckChecks;
  enabled?: boolean;
  remediation?: ControlPlaneTopologyHealthCheckRemediation;
}
interface ControlPlaneTopologyHealthCheckChecks {
  nodeStartupTimeoutSeconds?: number;
  unhealthyMachineConditions?: UnhealthyMachineCondition[];
  unhealthyNodeConditions?: UnhealthyNodeCondition[];
}
interface ControlPlaneTopologyHealthCheckRemediation {
  templateRef?: MachineHealthCheckRemediationTemplateReference;
  triggerIf?: ControlPlaneTopologyHealthCheckRemediationTriggerIf;
}
interface ControlPlaneTopologyHealthCheckRemediationTriggerIf {
  unhealthyInRange?: string;
  unhealthyLessThanOrEqualTo?: IntOrString;
}
interface ControlPlaneTopologyMachineDeletionSpec {
  nodeDeletionTimeoutSeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
}
interface ControlPlaneTopologyRolloutSpec {
  after?: MetaTime;
}
interface ControlPlaneVariables {
  overrides?: ClusterVariable[];
}
interface FailureDomain {
  name: string;
  attributes?: {
    [k: string]: string;
  };
  controlPlane?: boolean;
}
interface JSONSchemaProps {
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
interface Machine {
  spec: MachineSpec;
  apiVersion?: string;
  kind?: string;
  metadata?: MetaObjectMeta;
  status?: MachineStatus;
}
interface MachineAddress {
  type: string;
  address: string;
}
interface MachineDeletionSpec {
  nodeDeletionTimeoutSeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
}
interface MachineDeletionStatus {
  nodeDrainStartTime?: MetaTime;
  waitForNodeVolumeDetachStartTime?: MetaTime;
}
interface MachineDeploymentTopology {
  class: string;
  name: string;
  deletion?: MachineDeploymentTopologyMachineDeletionSpec;
  failureDomain?: string;
  healthCheck?: MachineDeploymentTopologyHealthCheck;
  metadata?: ObjectMeta;
  minReadySeconds?: number;
  readinessGates?: MachineReadinessGate[];
  replicas?: number;
  rollout?: MachineDeploymentTopologyRolloutSpec;
  taints?: MachineTaint[];
  variables?: MachineDeploymentVariables;
}
interface MachineDeploymentTopologyHealthCheck {
  checks?: MachineDeploymentTopologyHealthCheckChecks;
  enabled?: boolean;
  remediation?: MachineDeploymentTopologyHealthCheckRemediation;
}
interface MachineDeploymentTopologyHealthCheckChecks {
  nodeStartupTimeoutSeconds?: number;
  unhealthyMachineConditions?: UnhealthyMachineCondition[];
  unhealthyNodeConditions?: UnhealthyNodeCondition[];
}
interface MachineDeploymentTopologyHealthCheckRemediation {
  maxInFlight?: IntOrString;
  templateRef?: MachineHealthCheckRemediationTemplateReference;
  triggerIf?: MachineDeploymentTopologyHealthCheckRemediationTriggerIf;
}
interface MachineDeploymentTopologyHealthCheckRemediationTriggerIf {
  unhealthyInRange?: string;
  unhealthyLessThanOrEqualTo?: IntOrString;
}
interface MachineDeploymentTopologyMachineDeletionSpec {
  nodeDeletionTimeoutSeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
  order?: string;
}
interface MachineDeploymentTopologyRolloutSpec {
  after?: MetaTime;
  strategy?: MachineDeploymentTopologyRolloutStrategy;
}
interface MachineDeploymentTopologyRolloutStrategy {
  type: string;
  rollingUpdate?: MachineDeploymentTopologyRolloutStrategyRollingUpdate;
}
interface MachineDeploymentTopologyRolloutStrategyRollingUpdate {
  maxSurge?: IntOrString;
  maxUnavailable?: IntOrString;
}
interface MachineDeploymentVariables {
  overrides?: ClusterVariable[];
}
interface MachineDeprecatedStatus {
  v1beta1?: MachineV1Beta1DeprecatedStatus;
}
interface MachineHealthCheckRemediationTemplateReference {
  kind: string;
  name: string;
  apiVersion: string;
}
interface MachineInitializationStatus {
  bootstrapDataSecretCreated?: boolean;
  infrastructureProvisioned?: boolean;
}
interface MachineNamingSpec {
  template?: string;
}
interface MachineNodeReference {
  name: string;
}
interface MachinePoolTopology {
  class: string;
  name: string;
  deletion?: MachinePoolTopologyMachineDeletionSpec;
  failureDomains?: string[];
  metadata?: ObjectMeta;
  minReadySeconds?: number;
  replicas?: number;
  taints?: MachineTaint[];
  variables?: MachinePoolVariables;
}
interface MachinePoolTopologyMachineDeletionSpec {
  nodeDeletionTimeoutSeconds?: number;
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
}
interface MachinePoolVariables {
  overrides?: ClusterVariable[];
}
interface MachineReadinessGate {
  conditionType: string;
  polarity?: string;
}
interface MachineSet {
  spec: MachineSetSpec;
  apiVersion?: string;
  kind?: string;
  metadata?: MetaObjectMeta;
  status?: MachineSetStatus;
}
interface MachineSetDeletionSpec {
  order?: string;
}
interface MachineSetDeprecatedStatus {
  v1beta1?: MachineSetV1Beta1DeprecatedStatus;
}
interface MachineSetSpec {
  clusterName: string;
  selector: MetaLabelSelector;
  template: MachineTemplateSpec;
  deletion?: MachineSetDeletionSpec;
  machineNaming?: MachineNamingSpec;
  replicas?: number;
}
interface MachineSetStatus {
  availableReplicas?: number;
  conditions?: MetaCondition[];
  deprecated?: MachineSetDeprecatedStatus;
  observedGeneration?: number;
  readyReplicas?: number;
  replicas?: number;
  selector?: string;
  upToDateReplicas?: number;
}
interface MachineSetV1Beta1DeprecatedStatus {
  availableReplicas?: number;
  conditions?: Condition[];
  failureMessage?: string;
  failureReason?: string;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
}
interface MachineSpec {
  clusterName: string;
  bootstrap: Bootstrap;
  infrastructureRef: ContractVersionedObjectReference;
  deletion?: MachineDeletionSpec;
  failureDomain?: string;
  minReadySeconds?: number;
  providerID?: string;
  readinessGates?: MachineReadinessGate[];
  taints?: MachineTaint[];
  version?: string;
}
interface MachineStatus {
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
interface MachineTaint {
  key: string;
  effect: string;
  propagation: string;
  value?: string;
}
interface MachineTemplateSpec {
  spec: MachineSpec;
  metadata?: ObjectMeta;
}
interface MachineV1Beta1DeprecatedStatus {
  conditions?: Condition[];
  failureMessage?: string;
  failureReason?: string;
}
interface NetworkRanges {
  cidrBlocks: string[];
}
interface ObjectMeta {
  annotations?: {
    [k: string]: string;
  };
  labels?: {
    [k: string]: string;
  };
}
interface Topology {
  classRef: ClusterClassRef;
  version: string;
  controlPlane?: ControlPlaneTopology;
  variables?: ClusterVariable[];
  workers?: WorkersTopology;
}
interface UnhealthyMachineCondition {
  type: string;
  status: string;
  timeoutSeconds: number;
}
interface UnhealthyNodeCondition {
  type: string;
  status: string;
  timeoutSeconds: number;
}
interface ValidationRule {
  rule: string;
  message?: string;
  fieldPath?: string;
  messageExpression?: string;
  reason?: string;
}
interface VariableSchema {
  openAPIV3Schema: JSONSchemaProps;
}
interface VariableSchemaMetadata {
  annotations?: {
    [k: string]: string;
  };
  labels?: {
    [k: string]: string;
  };
}
interface WorkersStatus {
  availableReplicas?: number;
  desiredReplicas?: number;
  readyReplicas?: number;
  replicas?: number;
  upToDateReplicas?: number;
}
interface WorkersTopology {
  machineDeployments?: MachineDeploymentTopology[];
  machinePools?: MachinePoolTopology[];
}
interface AfterClusterUpgradeRequest {
  cluster: Cluster;
  kubernetesVersion: string;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
}
interface AfterClusterUpgradeResponse {
  status: 'Failure' | 'Success';
  retryAfterSeconds: number;
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface AfterControlPlaneInitializedRequest {
  cluster: Cluster;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
}
interface AfterControlPlaneInitializedResponse {
  status: 'Failure' | 'Success';
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface AfterControlPlaneUpgradeRequest {
  cluster: Cluster;
  kubernetesVersion: string;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
  controlPlaneUpgrades?: UpgradeStepInfo[];
  workersUpgrades?: UpgradeStepInfo[];
}
interface AfterControlPlaneUpgradeResponse {
  status: 'Failure' | 'Success';
  retryAfterSeconds: number;
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface AfterWorkersUpgradeRequest {
  cluster: Cluster;
  kubernetesVersion: string;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
  controlPlaneUpgrades?: UpgradeStepInfo[];
  workersUpgrades?: UpgradeStepInfo[];
}
interface AfterWorkersUpgradeResponse {
  status: 'Failure' | 'Success';
  retryAfterSeconds: number;
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface BeforeClusterCreateRequest {
  cluster: Cluster;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
}
interface BeforeClusterCreateResponse {
  status: 'Failure' | 'Success';
  retryAfterSeconds: number;
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface BeforeClusterDeleteRequest {
  cluster: Cluster;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
}
interface BeforeClusterDeleteResponse {
  status: 'Failure' | 'Success';
  retryAfterSeconds: number;
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface BeforeClusterUpgradeRequest {
  cluster: Cluster;
  fromKubernetesVersion: string;
  toKubernetesVersion: string;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
  controlPlaneUpgrades?: UpgradeStepInfo[];
  workersUpgrades?: UpgradeStepInfo[];
}
interface BeforeClusterUpgradeResponse {
  status: 'Failure' | 'Success';
  retryAfterSeconds: number;
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface BeforeControlPlaneUpgradeRequest {
  cluster: Cluster;
  fromKubernetesVersion: string;
  toKubernetesVersion: string;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
  controlPlaneUpgrades?: UpgradeStepInfo[];
  workersUpgrades?: UpgradeStepInfo[];
}
interface BeforeControlPlaneUpgradeResponse {
  status: 'Failure' | 'Success';
  retryAfterSeconds: number;
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface BeforeWorkersUpgradeRequest {
  cluster: Cluster;
  fromKubernetesVersion: string;
  toKubernetesVersion: string;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
  controlPlaneUpgrades?: UpgradeStepInfo[];
  workersUpgrades?: UpgradeStepInfo[];
}
interface BeforeWorkersUpgradeResponse {
  status: 'Failure' | 'Success';
  retryAfterSeconds: number;
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface CanUpdateMachineRequest {
  current: CanUpdateMachineRequestObjects;
  desired: CanUpdateMachineRequestObjects;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
}
interface CanUpdateMachineRequestObjects {
  machine: Machine;
  infrastructureMachine: RawExtension;
  bootstrapConfig?: RawExtension;
}
interface CanUpdateMachineResponse {
  status: 'Failure' | 'Success';
  apiVersion?: string;
  kind?: string;
  message?: string;
  bootstrapConfigPatch?: Patch;
  infrastructureMachinePatch?: Patch;
  machinePatch?: Patch;
}
interface CanUpdateMachineSetRequest {
  current: CanUpdateMachineSetRequestObjects;
  desired: CanUpdateMachineSetRequestObjects;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
}
interface CanUpdateMachineSetRequestObjects {
  machineSet: MachineSet;
  infrastructureMachineTemplate: RawExtension;
  bootstrapConfigTemplate?: RawExtension;
}
interface CanUpdateMachineSetResponse {
  status: 'Failure' | 'Success';
  apiVersion?: string;
  kind?: string;
  message?: string;
  bootstrapConfigTemplatePatch?: Patch;
  infrastructureMachineTemplatePatch?: Patch;
  machineSetPatch?: Patch;
}
interface DiscoverVariablesRequest {
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
}
interface DiscoverVariablesResponse {
  status: 'Failure' | 'Success';
  apiVersion?: string;
  kind?: string;
  message?: string;
  variables?: ClusterClassVariable[];
}
interface DiscoveryRequest {
  apiVersion?: string;
  kind?: string;
}
interface DiscoveryResponse {
  status: 'Failure' | 'Success';
  apiVersion?: string;
  kind?: string;
  message?: string;
  handlers?: ExtensionHandler[];
}
interface ExtensionHandler {
  name: string;
  requestHook: GroupVersionHook;
  failurePolicy?: string;
  timeoutSeconds?: number;
}
interface GeneratePatchesRequest {
  items: GeneratePatchesRequestItem[];
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
  variables?: Variable[];
}
interface GeneratePatchesRequestItem {
  uid: string;
  holderReference: HolderReference;
  object: RawExtension;
  variables?: Variable[];
}
interface GeneratePatchesResponse {
  status: 'Failure' | 'Success';
  apiVersion?: string;
  kind?: string;
  message?: string;
  items?: GeneratePatchesResponseItem[];
}
interface GeneratePatchesResponseItem {
  uid: string;
  patchType: string;
  patch: string;
}
interface GenerateUpgradePlanRequest {
  cluster: Cluster;
  fromControlPlaneKubernetesVersion: string;
  toKubernetesVersion: string;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
  fromWorkersKubernetesVersion?: string;
}
interface GenerateUpgradePlanResponse {
  status: 'Failure' | 'Success';
  apiVersion?: string;
  kind?: string;
  message?: string;
  controlPlaneUpgrades?: UpgradeStep[];
  workersUpgrades?: UpgradeStep[];
}
interface GroupVersionHook {
  apiVersion: string;
  hook: string;
}
interface HolderReference {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  fieldPath: string;
}
interface Patch {
  patchType: string;
  patch: string;
}
interface UpdateMachineRequest {
  desired: UpdateMachineRequestObjects;
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
}
interface UpdateMachineRequestObjects {
  machine: Machine;
  infrastructureMachine: RawExtension;
  bootstrapConfig?: RawExtension;
}
interface UpdateMachineResponse {
  status: 'Failure' | 'Success';
  retryAfterSeconds: number;
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface UpgradeStep {
  version: string;
}
interface UpgradeStepInfo {
  version: string;
}
interface ValidateTopologyRequest {
  items: ValidateTopologyRequestItem[];
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
  variables?: Variable[];
}
interface ValidateTopologyRequestItem {
  holderReference: HolderReference;
  object: RawExtension;
  variables?: Variable[];
}
interface ValidateTopologyResponse {
  status: 'Failure' | 'Success';
  apiVersion?: string;
  kind?: string;
  message?: string;
}
interface Variable {
  name: string;
  value: AnyJSON;
}
export declare const hooksGroup = "hooks.runtime.cluster.x-k8s.io";
export declare const hooks: {
  readonly AfterClusterUpgrade: HookDefinition<AfterClusterUpgradeRequest, AfterClusterUpgradeResponse>;
  readonly AfterControlPlaneInitialized: HookDefinition<AfterControlPlaneInitializedRequest, AfterControlPlaneInitializedResponse>;
  readonly AfterControlPlaneUpgrade: HookDefinition<AfterControlPlaneUpgradeRequest, AfterControlPlaneUpgradeResponse>;
  readonly AfterWorkersUpgrade: HookDefinition<AfterWorkersUpgradeRequest, AfterWorkersUpgradeResponse>;
  readonly BeforeClusterCreate: HookDefinition<BeforeClusterCreateRequest, BeforeClusterCreateResponse>;
  readonly BeforeClusterDelete: HookDefinition<BeforeClusterDeleteRequest, BeforeClusterDeleteResponse>;
  readonly BeforeClusterUpgrade: HookDefinition<BeforeClusterUpgradeRequest, BeforeClusterUpgradeResponse>;
  readonly BeforeControlPlaneUpgrade: HookDefinition<BeforeControlPlaneUpgradeRequest, BeforeControlPlaneUpgradeResponse>;
  readonly BeforeWorkersUpgrade: HookDefinition<BeforeWorkersUpgradeRequest, BeforeWorkersUpgradeResponse>;
  readonly CanUpdateMachine: HookDefinition<CanUpdateMachineRequest, CanUpdateMachineResponse>;
  readonly CanUpdateMachineSet: HookDefinition<CanUpdateMachineSetRequest, CanUpdateMachineSetResponse>;
  readonly DiscoverVariables: HookDefinition<DiscoverVariablesRequest, DiscoverVariablesResponse>;
  readonly Discovery: HookDefinition<DiscoveryRequest, DiscoveryResponse>;
  readonly GeneratePatches: HookDefinition<GeneratePatchesRequest, GeneratePatchesResponse>;
  readonly GenerateUpgradePlan: HookDefinition<GenerateUpgradePlanRequest, GenerateUpgradePlanResponse>;
  readonly UpdateMachine: HookDefinition<UpdateMachineRequest, UpdateMachineResponse>;
  readonly ValidateTopology: HookDefinition<ValidateTopologyRequest, ValidateTopologyResponse>;
};
export declare const clusterApiHooks: readonly HookDefinition[];
type Json = null | boolean | number | string | Json[] | {
  [key: string]: Json;
};
type JsonObject = {
  [key: string]: Json;
};
interface MessageProblem {
  field: string;
  message: string;
}
type Check = 'request' | 'response' | 'answer';
export declare function messageProblem(hook: HookDefinition, check: Check, value: unknown): MessageProblem | undefined;
export declare function sampleRequest(hook: HookDefinition, core?: CoreVersion): JsonObject;
export declare function sampleResponse(hook: HookDefinition, core?: CoreVersion): JsonObject;
export type { APIEndpoint, AfterClusterUpgradeRequest, AfterClusterUpgradeResponse, AfterControlPlaneInitializedRequest, AfterControlPlaneInitializedResponse, AfterControlPlaneUpgradeRequest, AfterControlPlaneUpgradeResponse, AfterWorkersUpgradeRequest, AfterWorkersUpgradeResponse, AnyJSON, BeforeClusterCreateRequest, BeforeClusterCreateResponse, BeforeClusterDeleteRequest, BeforeClusterDeleteResponse, BeforeClusterUpgradeRequest, BeforeClusterUpgradeResponse, BeforeControlPlaneUpgradeRequest, BeforeControlPlaneUpgradeResponse, BeforeWorkersUpgradeRequest, BeforeWorkersUpgradeResponse, Bootstrap, CanUpdateMachineRequest, CanUpdateMachineRequestObjects, CanUpdateMachineResponse, CanUpdateMachineSetRequest, CanUpdateMachineSetRequestObjects, CanUpdateMachineSetResponse, Cluster, ClusterAvailabilityGate, ClusterClassRef, ClusterClassVariable, ClusterClassVariableMetadata, ClusterControlPlaneStatus, ClusterDeprecatedStatus, ClusterInitializationStatus, ClusterNetwork, ClusterSpec, ClusterStatus, ClusterV1Beta1DeprecatedStatus, ClusterVariable, Condition, ContractVersionedObjectReference, ControlPlaneTopology, ControlPlaneTopologyHealthCheck, ControlPlaneTopologyHealthCheckChecks, ControlPlaneTopologyHealthCheckRemediation, ControlPlaneTopologyHealthCheckRemediationTriggerIf, ControlPlaneTopologyMachineDeletionSpec, ControlPlaneTopologyRolloutSpec, ControlPlaneVariables, CoreVersion, DiscoverVariablesRequest, DiscoverVariablesResponse, DiscoveryRequest, DiscoveryResponse, ExtensionHandler, FailureDomain, GeneratePatchesRequest, GeneratePatchesRequestItem, GeneratePatchesResponse, GeneratePatchesResponseItem, GenerateUpgradePlanRequest, GenerateUpgradePlanResponse, GroupVersionHook, HolderReference, HookDefinition, IntOrString, JSONSchemaProps, Lifecycle, LifecycleKey, Machine, MachineAddress, MachineDeletionSpec, MachineDeletionStatus, MachineDeploymentTopology, MachineDeploymentTopologyHealthCheck, MachineDeploymentTopologyHealthCheckChecks, MachineDeploymentTopologyHealthCheckRemediation, MachineDeploymentTopologyHealthCheckRemediationTriggerIf, MachineDeploymentTopologyMachineDeletionSpec, MachineDeploymentTopologyRolloutSpec, MachineDeploymentTopologyRolloutStrategy, MachineDeploymentTopologyRolloutStrategyRollingUpdate, MachineDeploymentVariables, MachineDeprecatedStatus, MachineHealthCheckRemediationTemplateReference, MachineInitializationStatus, MachineNamingSpec, MachineNodeReference, MachinePoolTopology, MachinePoolTopologyMachineDeletionSpec, MachinePoolVariables, MachineReadinessGate, MachineSet, MachineSetDeletionSpec, MachineSetDeprecatedStatus, MachineSetSpec, MachineSetStatus, MachineSetV1Beta1DeprecatedStatus, MachineSpec, MachineStatus, MachineTaint, MachineTemplateSpec, MachineV1Beta1DeprecatedStatus, MessageDefinition, MessageProblem, MessageSchema, MetaCondition, MetaFieldsV1, MetaLabelSelector, MetaLabelSelectorRequirement, MetaManagedFieldsEntry, MetaObjectMeta, MetaOwnerReference, MetaTime, NetworkRanges, NodeSwapStatus, NodeSystemInfo, ObjectMeta, Patch, RawExtension, Release, ReleaseChange, RequestOf, ResponseOf, Topology, UnhealthyMachineCondition, UnhealthyNodeCondition, UpdateMachineRequest, UpdateMachineRequestObjects, UpdateMachineResponse, UpgradeStep, UpgradeStepInfo, ValidateTopologyRequest, ValidateTopologyRequestItem, ValidateTopologyResponse, ValidationRule, Variable, VariableSchema, VariableSchemaMetadata, WorkersStatus, WorkersTopology };