interface Release {
  major: number;
  minor: number;
}
export declare function parseRelease(text: string): Release | undefined;
interface LifecycleKey {
  group: string;
  version: string;
  name: string;
}
interface Lifecycle extends LifecycleKey {
  introduced: Release;
  deprecated?: {
    release: Release;
    date: string;
  };
  removed?: Release;
  replacedBy?: LifecycleKey;
  singleton?: boolean;
  blockingSince?: Release;
}
interface WrittenLifecycle extends LifecycleKey {
  introduced: string;
  deprecated?: {
    release: string;
    date: string;
  } | undefined;
  removed?: string | undefined;
  replacedBy?: LifecycleKey | undefined;
  singleton?: boolean | undefined;
  blockingSince?: string | undefined;
}
interface HookCatalog {
  find(group: string, version: string, name: string): Lifecycle | undefined;
  findIgnoringCase(group: string, version: string, name: string): Lifecycle | undefined;
  readonly lifecycles: readonly Lifecycle[];
}
export declare function createHookCatalog(own?: readonly Lifecycle[]): HookCatalog;
interface MessageSchema {
  $ref?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  format?: string;
  description?: string;
  example?: unknown;
  default?: unknown;
  enum?: readonly string[];
  required?: readonly string[];
  properties?: Readonly<Record<string, MessageSchema>>;
  additionalProperties?: MessageSchema;
  items?: MessageSchema;
  allOf?: readonly MessageSchema[];
  oneOf?: readonly MessageSchema[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  'x-kubernetes-list-type'?: 'map' | 'atomic';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'atomic';
}
type SchemaValue<S, Other = unknown> = S extends {
  readonly enum: readonly (infer Value)[];
} ? Value : S extends {
  readonly type: infer Type;
} ? Type extends 'string' ? string : Type extends 'integer' | 'number' ? number : Type extends 'boolean' ? boolean : Type extends 'array' ? (S extends {
  readonly items: infer Items;
} ? SchemaValue<Items, Other> : Other)[] : Type extends 'object' ? ObjectValue<S, Other> : Other : Other;
type ObjectValue<S, Other> = S extends {
  readonly properties: infer Properties;
} ? { [Name in PresentIn<Properties, S>]: SchemaValue<Properties[Name], Other>; } & { [Name in Exclude<keyof Properties, PresentIn<Properties, S>>]?: SchemaValue<Properties[Name], Other>; } : {
  [name: string]: S extends {
    readonly additionalProperties: infer Values;
  } ? SchemaValue<Values, Other> : Other;
};
type PresentIn<Properties, S> = { [Name in keyof Properties]: S extends {
  readonly required: readonly (infer Required)[];
} ? Name extends Required ? Name : DefaultedName<Properties, Name> : DefaultedName<Properties, Name>; }[keyof Properties];
type DefaultedName<Properties, Name extends keyof Properties> = Properties[Name] extends {
  readonly default: unknown;
} ? Name : never;
interface HookDefinition<Request = object, Response = object> {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly summary: string;
  readonly purpose: string;
  readonly tags: readonly string[];
  readonly singleton: boolean;
  readonly lifecycle: Lifecycle;
  readonly isBlocking: boolean;
  readonly request: MessageDefinition;
  readonly response: MessageDefinition;
  readonly changes: readonly ReleaseChange[];
  readonly components: Readonly<Record<string, MessageSchema>>;
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
  readonly coreBefore?: CoreVersion;
}
type CoreVersion = 'v1beta1' | 'v1beta2';
type RequestOf<Hook> = Hook extends HookDefinition<infer Request, infer _> ? Request : never;
type ResponseOf<Hook> = Hook extends HookDefinition<infer _, infer Response> ? Response : never;
interface HookOptions extends Omit<WrittenLifecycle, 'introduced'> {
  introduced?: string | undefined;
  summary?: string | undefined;
  purpose?: string | undefined;
  tags?: readonly string[] | undefined;
  fieldsSince?: {
    request?: Readonly<Record<string, string>> | undefined;
    response?: Readonly<Record<string, string>> | undefined;
  } | undefined;
  changes?: readonly {
    release: string;
    text: string;
    coreBefore?: CoreVersion | undefined;
  }[] | undefined;
  request: MessageSchema;
  response: MessageSchema;
  package?: string | undefined;
  components?: Readonly<Record<string, MessageSchema>> | undefined;
}
type MessageOf<S> = S extends {
  readonly properties: infer Properties;
} ? string extends keyof Properties ? object : SchemaValue<S> : object;
export declare function defineHook<const Options extends HookOptions>(options: Options): HookDefinition<MessageOf<Options['request']>, MessageOf<Options['response']>>;
export declare function defineHook<Request, Response>(options: HookOptions): HookDefinition<Request, Response>;
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
  fieldPath?: string;
  message?: string;
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
  machinePatch?: Patch;
  infrastructureMachinePatch?: Patch;
  bootstrapConfigPatch?: Patch;
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
  machineSetPatch?: Patch;
  infrastructureMachineTemplatePatch?: Patch;
  bootstrapConfigTemplatePatch?: Patch;
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
  timeoutSeconds?: number;
  failurePolicy?: string;
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
export declare function parseLifecycles(text: string): Lifecycle[];
type Stability = 'alpha' | 'beta' | 'GA';
interface SupportEnd {
  release: Release;
  month: string;
}
type Phase = 'future' | 'supported' | 'deprecated' | 'removed';
interface Deprecation {
  since: NonNullable<Lifecycle['deprecated']>;
  supportedUntil: SupportEnd | undefined;
}
type Json = null | boolean | number | string | Json[] | {
  [key: string]: Json;
};
type JsonObject = {
  [key: string]: Json;
};
type Strictness = 'strict' | 'received';
interface MessageProblem {
  field: string;
  message: string;
}
export declare function messageProblems(hook: HookDefinition, message: 'request' | 'response', value: unknown, strictness: Strictness): MessageProblem[];
interface HookOperation {
  tags: readonly string[];
  summary: string;
  description: string;
  operationId: string;
  deprecated?: true;
  parameters?: readonly {
    name: string;
    in: 'path';
    required: true;
    description: string;
    schema: {
      type: 'string';
    };
  }[];
  requestBody: {
    content: Content;
  };
  responses: {
    200: {
      description: string;
      content: Content;
    };
  };
}
interface Content {
  'application/json': {
    schema: {
      $ref: string;
    };
  };
}
interface OpenApiDocument {
  openapi: '3.0.0';
  info: {
    title: string;
    description: string;
    license: {
      name: string;
      url: string;
    };
    version: string;
  };
  paths: Record<string, {
    post: HookOperation;
  }>;
  components: {
    schemas: Record<string, MessageSchema>;
  };
}
export declare function openApiDocument(hooks: readonly HookDefinition[], { version, release }: {
  version: string;
  release: Release;
}): OpenApiDocument;
interface DocumentedHook {
  path: string;
  group: string;
  version: string;
  hook: string;
  parameters: readonly string[];
  isDeprecated: boolean;
  request: JsonObject;
  response: JsonObject;
}
interface HookDocument {
  version: string;
  hooks: readonly DocumentedHook[];
  schemas: ReadonlyMap<string, JsonObject>;
}
export declare function readHookDocument(text: string): HookDocument;
interface HookChange {
  severity: 'break' | 'note';
  rule?: 1 | 3 | 4;
  hook: string;
  field?: string;
  message: string;
}
interface EvolutionFacts {
  lifecycles?: HookCatalog | undefined;
  release?: Release | undefined;
  month: string;
}
export declare function compareHookDocuments(before: HookDocument, after: HookDocument, facts: EvolutionFacts): HookChange[];
export declare function sampleRequest(hook: HookDefinition, core?: CoreVersion): JsonObject;
export declare function sampleResponse(hook: HookDefinition, core?: CoreVersion): JsonObject;
type ConversionStep = (message: JsonObject) => JsonObject;
interface HookVersionChange {
  older: HookDefinition;
  newer: HookDefinition;
  request?: ConversionStep | undefined;
  response?: ConversionStep | undefined;
}
interface HookVersions {
  group: string;
  name: string;
  versions: readonly HookDefinition[];
  requestFor(version: string, request: JsonObject): JsonObject;
  responseFor(version: string, response: JsonObject): JsonObject;
}
export declare function defineHookVersions(changes: readonly HookVersionChange[]): HookVersions;
export type { APIEndpoint, AfterClusterUpgradeRequest, AfterClusterUpgradeResponse, AfterControlPlaneInitializedRequest, AfterControlPlaneInitializedResponse, AfterControlPlaneUpgradeRequest, AfterControlPlaneUpgradeResponse, AfterWorkersUpgradeRequest, AfterWorkersUpgradeResponse, AnyJSON, BeforeClusterCreateRequest, BeforeClusterCreateResponse, BeforeClusterDeleteRequest, BeforeClusterDeleteResponse, BeforeClusterUpgradeRequest, BeforeClusterUpgradeResponse, BeforeControlPlaneUpgradeRequest, BeforeControlPlaneUpgradeResponse, BeforeWorkersUpgradeRequest, BeforeWorkersUpgradeResponse, Bootstrap, CanUpdateMachineRequest, CanUpdateMachineRequestObjects, CanUpdateMachineResponse, CanUpdateMachineSetRequest, CanUpdateMachineSetRequestObjects, CanUpdateMachineSetResponse, Cluster, ClusterAvailabilityGate, ClusterClassRef, ClusterClassVariable, ClusterClassVariableMetadata, ClusterControlPlaneStatus, ClusterDeprecatedStatus, ClusterInitializationStatus, ClusterNetwork, ClusterSpec, ClusterStatus, ClusterV1Beta1DeprecatedStatus, ClusterVariable, Condition, ContractVersionedObjectReference, ControlPlaneTopology, ControlPlaneTopologyHealthCheck, ControlPlaneTopologyHealthCheckChecks, ControlPlaneTopologyHealthCheckRemediation, ControlPlaneTopologyHealthCheckRemediationTriggerIf, ControlPlaneTopologyMachineDeletionSpec, ControlPlaneTopologyRolloutSpec, ControlPlaneVariables, CoreVersion, Deprecation, DiscoverVariablesRequest, DiscoverVariablesResponse, DiscoveryRequest, DiscoveryResponse, ExtensionHandler, FailureDomain, GeneratePatchesRequest, GeneratePatchesRequestItem, GeneratePatchesResponse, GeneratePatchesResponseItem, GenerateUpgradePlanRequest, GenerateUpgradePlanResponse, GroupVersionHook, HolderReference, HookCatalog, HookChange, HookDefinition, HookOptions, HookVersionChange, HookVersions, IntOrString, JSONSchemaProps, Lifecycle, LifecycleKey, Machine, MachineAddress, MachineDeletionSpec, MachineDeletionStatus, MachineDeploymentTopology, MachineDeploymentTopologyHealthCheck, MachineDeploymentTopologyHealthCheckChecks, MachineDeploymentTopologyHealthCheckRemediation, MachineDeploymentTopologyHealthCheckRemediationTriggerIf, MachineDeploymentTopologyMachineDeletionSpec, MachineDeploymentTopologyRolloutSpec, MachineDeploymentTopologyRolloutStrategy, MachineDeploymentTopologyRolloutStrategyRollingUpdate, MachineDeploymentVariables, MachineDeprecatedStatus, MachineHealthCheckRemediationTemplateReference, MachineInitializationStatus, MachineNamingSpec, MachineNodeReference, MachinePoolTopology, MachinePoolTopologyMachineDeletionSpec, MachinePoolVariables, MachineReadinessGate, MachineSet, MachineSetDeletionSpec, MachineSetDeprecatedStatus, MachineSetSpec, MachineSetStatus, MachineSetV1Beta1DeprecatedStatus, MachineSpec, MachineStatus, MachineTaint, MachineTemplateSpec, MachineV1Beta1DeprecatedStatus, MessageDefinition, MessageProblem, MessageSchema, MetaCondition, MetaFieldsV1, MetaLabelSelector, MetaLabelSelectorRequirement, MetaManagedFieldsEntry, MetaObjectMeta, MetaOwnerReference, MetaTime, NetworkRanges, NodeSwapStatus, NodeSystemInfo, ObjectMeta, OpenApiDocument, Patch, Phase, RawExtension, Release, ReleaseChange, RequestOf, ResponseOf, Stability, Strictness, Topology, UnhealthyMachineCondition, UnhealthyNodeCondition, UpdateMachineRequest, UpdateMachineRequestObjects, UpdateMachineResponse, UpgradeStep, UpgradeStepInfo, ValidateTopologyRequest, ValidateTopologyRequestItem, ValidateTopologyResponse, ValidationRule, Variable, VariableSchema, VariableSchemaMetadata, WorkersStatus, WorkersTopology };