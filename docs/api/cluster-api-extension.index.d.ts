import { IncomingMessage, ServerResponse } from "node:http";
interface Release {
  major: number;
  minor: number;
  patch?: number;
}
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
interface Cluster$1 {
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
interface Machine$1 {
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
  cluster: Cluster$1;
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
  cluster: Cluster$1;
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
  cluster: Cluster$1;
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
  cluster: Cluster$1;
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
  cluster: Cluster$1;
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
  cluster: Cluster$1;
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
  cluster: Cluster$1;
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
  cluster: Cluster$1;
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
  cluster: Cluster$1;
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
  machine: Machine$1;
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
  cluster: Cluster$1;
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
  machine: Machine$1;
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
declare const hooks: {
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
type Json = null | boolean | number | string | Json[] | {
  [key: string]: Json;
};
type JsonObject = {
  [key: string]: Json;
};
type UpgradePlan = Pick<GenerateUpgradePlanResponse, 'controlPlaneUpgrades' | 'workersUpgrades'>;
export declare function upgradePlanProblem(request: GenerateUpgradePlanRequest, plan: UpgradePlan): string | undefined;
interface Limits {
  maxBodyBytes: number;
  maxConnections: number;
  maxInFlightBytes: number;
  maxHeaderBytes: number;
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  responseTimeoutMs: number;
  stallTimeoutMs: number;
  keepAliveTimeoutMs: number;
  timeoutCheckMs: number;
}
interface Write {
  (message: string): void;
  (fields: object, message?: string): void;
}
interface Log {
  trace: Write;
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  fatal: Write;
  isLevelEnabled(level: string): boolean;
  child(fields: Record<string, unknown>): Log;
  flush(done?: () => void): void;
}
interface StopOptions {
  closeAfter?: Promise<unknown> | undefined;
  graceMs?: number | undefined;
  timeoutMs: number;
}
interface Address {
  host?: string | undefined;
  port: number;
}
export declare class ListenError extends Error {
  readonly port: 'main' | 'health';
  readonly address: Address;
  readonly code: string;
  constructor(port: 'main' | 'health', address: Address, code: string);
}
interface RunningServer {
  port: number;
  healthPort: number;
  stop(options: StopOptions): Promise<void>;
}
interface Lifetime {
  readonly stopping: AbortSignal;
  waitUntil(work: Promise<unknown>, name?: string): void;
}
type HookName = Exclude<keyof typeof hooks, 'Discovery'>;
type Named<Object, Names extends string> = Object extends {
  metadata?: infer Metadata;
} ? Object & {
  metadata: Metadata & { readonly [Name in Names]: string; };
} : Object;
type Certain<Request> = Request extends {
  cluster: infer Cluster;
} ? Omit<Request, 'cluster'> & {
  cluster: Named<Cluster, 'name' | 'namespace' | 'uid'>;
} : Request extends {
  desired: {
    machine: infer Machine;
  };
} ? Omit<Request, 'desired'> & {
  desired: Omit<Request['desired'], 'machine'> & {
    machine: Named<Machine, 'name' | 'namespace'>;
  };
} : Request;
type RequestFor<H extends HookName> = Certain<RequestOf<(typeof hooks)[H]>>;
interface NewestFields {
  affectsAvailability?: boolean;
}
type ResponseFor<H extends HookName> = ResponseOf<(typeof hooks)[H]> & (H extends 'CanUpdateMachine' | 'CanUpdateMachineSet' ? NewestFields : unknown);
declare const responseType: unique symbol;
interface Answer<Response> {
  readonly [responseType]: Response;
}
type OrUndefined<T> = { [Field in keyof T]: Record<never, never> extends Pick<T, Field> ? T[Field] | undefined : T[Field]; };
type AnswerFields<Response> = OrUndefined<Omit<Response, 'apiVersion' | 'kind' | 'status' | 'retryAfterSeconds'>>;
interface FinalAnswers<Response> {
  done: Record<never, never> extends AnswerFields<Response> ? (fields?: AnswerFields<Response>) => Answer<Response> : (fields: AnswerFields<Response>) => Answer<Response>;
  fail(message: string): Answer<Response>;
}
interface BlockingAnswers<Response> extends FinalAnswers<Response> {
  retry(seconds: number, message: string): Answer<Response>;
}
type Answers<Response> = 'retryAfterSeconds' extends keyof Response ? BlockingAnswers<Response> : FinalAnswers<Response>;
interface HandlerContext<Response> extends Lifetime {
  answer: Answers<Response>;
  signal: AbortSignal;
  log: Log;
  cluster: string | undefined;
  subject: string;
  settings: Readonly<Record<string, string>>;
}
export declare class HandlerFailure extends Error {}
interface HandlerOptions<H extends HookName> {
  name: string;
  timeoutSeconds?: number | undefined;
  failurePolicy?: 'Fail' | 'Ignore' | undefined;
  handle(request: RequestFor<H>, context: HandlerContext<ResponseFor<H>>): Answer<ResponseFor<H>> | Promise<Answer<ResponseFor<H>>>;
}
interface Handler<H extends HookName = HookName> {
  readonly name: string;
  readonly hook: HookDefinition;
  readonly timeoutSeconds?: number | undefined;
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined;
  handle(request: object, context: HandlerContext<unknown>): unknown;
  readonly types?: {
    readonly hook: H;
  };
}
export declare function handler<H extends HookName>(hook: H, options: HandlerOptions<H>): Handler<H>;
export declare class HandlersError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]);
}
type HandledCall = 'success' | 'blocking' | 'failure' | 'invalid request' | 'error' | 'invalid answer';
interface CallOutcome {
  response: JsonObject;
  text: string;
  result: HandledCall;
  cluster?: string | undefined;
}
interface ApiClient {
  request(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<JsonObject>;
}
interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
  } | undefined;
}
interface Clusters {
  management(): Promise<ApiClient>;
  workloadCluster(cluster: ObjectReference): Promise<ApiClient>;
  refetch<T extends ObjectReference>(object: T): Promise<(T & {
    status?: JsonObject;
  }) | undefined>;
}
export declare function createClusters(options?: {
  kubeconfig?: string | undefined;
  context?: string | undefined;
}): Clusters;
interface ExtensionRouterOptions {
  handlers: readonly Handler[];
  limits?: Partial<Pick<Limits, 'maxBodyBytes' | 'maxInFlightBytes'>> | undefined;
  log?: Log | undefined;
  logLevel?: string | undefined;
}
interface ExtensionRouter {
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
  readonly warnings: readonly string[];
  metrics(): Promise<string>;
  stop(timeoutMs: number): Promise<readonly string[]>;
}
export declare function createExtensionRouter(options: ExtensionRouterOptions): ExtensionRouter;
interface Job {
  key: string;
  message: string;
  env?: Readonly<Record<string, string>> | undefined;
  cluster?: {
    metadata?: {
      name?: string;
      namespace?: string;
      uid?: string;
    };
  } | undefined;
}
type BlockingContext<Response> = Pick<HandlerContext<Response>, 'log' | 'stopping' | 'subject' | 'waitUntil'> & {
  answer: Pick<BlockingAnswers<Response>, 'fail' | 'retry'> & {
    done(): Answer<Response>;
  };
};
type Names = Readonly<Record<string, string>>;
interface JobContainer {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: object;
  }[];
  readonly [field: string]: unknown;
}
interface JobSpec {
  readonly template: {
    readonly metadata?: {
      readonly labels?: Names;
      readonly annotations?: Names;
    };
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
interface KubernetesJobsOptions {
  namespace: string;
  template: JobSpec;
  name?: string | undefined;
  kubeconfig?: string | undefined;
  context?: string | undefined;
  retryAfterSeconds?: number | undefined;
  keepSeconds?: number | undefined;
}
interface InProcessJobsOptions {
  run(job: Job, signal: AbortSignal): Promise<void>;
  retryAfterSeconds?: number | undefined;
}
interface Jobs {
  answer<Response>(context: BlockingContext<Response>, job: Job): Promise<Answer<Response>>;
}
export declare function createJobs(options: KubernetesJobsOptions | InProcessJobsOptions): Jobs;
type FieldTree = true | readonly [FieldTree] | {
  readonly [name: string]: FieldTree;
};
type PathsByKind = {
  readonly [kind: string]: readonly string[];
};
interface UpdatableFields {
  readonly machine?: readonly string[] | undefined;
  readonly infrastructureMachine?: PathsByKind | undefined;
  readonly bootstrapConfig?: PathsByKind | undefined;
}
type MachinePatches = Pick<CanUpdateMachineResponse, 'machinePatch' | 'infrastructureMachinePatch' | 'bootstrapConfigPatch'>;
type MachineSetPatches = Pick<CanUpdateMachineSetResponse, 'machineSetPatch' | 'infrastructureMachineTemplatePatch' | 'bootstrapConfigTemplatePatch'>;
interface InPlaceChanges {
  machinePatches(request: CanUpdateMachineRequest): MachinePatches;
  machineSetPatches(request: CanUpdateMachineSetRequest): MachineSetPatches;
  desiredValues(desired: UpdateMachineRequest['desired']): unknown[];
}
type KnownFields = Readonly<Record<string, readonly FieldTree[]>>;
export declare function defineInPlaceChanges(fields: UpdatableFields, known?: KnownFields): InPlaceChanges;
interface MachineUpdate {
  key: string;
  desired: UpdateMachineRequest['desired'];
}
type MachineUpdateState =
{
  state: 'none';
} | {
  state: 'running';
} |
{
  state: 'failed';
  message: string;
} | {
  state: 'done';
};
interface InPlaceUpdater {
  readonly name: string;
  readonly covers: UpdatableFields;
  readonly affectsAvailability?: boolean | undefined;
  look(update: MachineUpdate, signal: AbortSignal): Promise<MachineUpdateState>;
  begin(update: MachineUpdate, signal: AbortSignal): Promise<void>;
  kubeletVersion?(update: MachineUpdate, signal: AbortSignal): Promise<string | undefined>;
}
interface InPlaceOptions {
  knownFields?: KnownFields | undefined;
  retryAfterSeconds?: number | undefined;
}
declare function inPlace(updaters: readonly InPlaceUpdater[], options?: InPlaceOptions): [Handler<'CanUpdateMachine'>, Handler<'CanUpdateMachineSet'>, Handler<'UpdateMachine'>];
export declare const machines: {
  inPlace: typeof inPlace;
};
type ExtensionCertificates =
{
  folder: string;
} |
{
  development: string;
  name?: string | undefined;
};
interface ExtensionServerOptions {
  handlers: readonly Handler[];
  certificates?: ExtensionCertificates | undefined;
  port?: number | undefined;
  host?: string | undefined;
  healthPort?: number | undefined;
  healthHost?: string | undefined;
  path?: string | undefined;
  clients?: {
    caFile: string;
    allowedNames?: readonly string[] | undefined;
  } | undefined;
  limits?: Partial<Limits> | undefined;
  log?: Log | undefined;
  logLevel?: string | undefined;
  version?: string | undefined;
}
type RunningExtension = RunningServer;
interface ExtensionServer {
  readonly handlers: readonly Handler[];
  readonly warnings: readonly string[];
  start(): Promise<RunningExtension>;
  run(): Promise<void>;
}
export declare function createExtensionServer(options: ExtensionServerOptions): ExtensionServer;
export declare function startProblem(error: unknown): string;
export declare function compareVersions(a: string, b: string): number;
export declare function planUpgrade(request: GenerateUpgradePlanRequest, versions?: readonly string[]): UpgradePlan;
export type { Answer, AnswerFields, Answers, ApiClient, BlockingAnswers, CallOutcome, Clusters, ExtensionCertificates, ExtensionRouter, ExtensionRouterOptions, ExtensionServer, ExtensionServerOptions, FinalAnswers, HandledCall, Handler, HandlerContext, HandlerOptions, HookName, InPlaceChanges, InPlaceOptions, InPlaceUpdater, InProcessJobsOptions, Job, JobSpec, Jobs, KnownFields, KubernetesJobsOptions, MachineUpdate, MachineUpdateState, ObjectReference, RequestFor, ResponseFor, RunningExtension, UpdatableFields, UpgradePlan };