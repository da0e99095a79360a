import {
  atomicList,
  boolean,
  int32,
  int64,
  list,
  listByKeys,
  type MessageSchema,
  object,
  ref,
  string,
  stringMap,
} from '../catalog/schema.ts';
import { kubernetes } from './kubernetes.ts';

const prefix = 'sigs.k8s.io.cluster-api.api.core.v1beta2.';
const core = (name: string, description?: string) => ref(`${prefix}${name}`, description);

/** Fields that several types have. */
const timeouts = {
  nodeDeletionTimeoutSeconds: int32(),
  nodeDrainTimeoutSeconds: int32(),
  nodeVolumeDetachTimeoutSeconds: int32(),
};
const replicaCounts = {
  availableReplicas: int32(),
  desiredReplicas: int32(),
  readyReplicas: int32(),
  replicas: int32(),
  upToDateReplicas: int32(),
};
const unhealthyChecks = {
  nodeStartupTimeoutSeconds: int32(),
  unhealthyMachineConditions: atomicList(core('UnhealthyMachineCondition')),
  unhealthyNodeConditions: atomicList(core('UnhealthyNodeCondition')),
};
const triggerIf = { unhealthyInRange: string(), unhealthyLessThanOrEqualTo: ref(kubernetes.intOrString) };
const overrides = { overrides: listByKeys(core('ClusterVariable'), ['name']) };
const labelsAndAnnotations = { annotations: stringMap(), labels: stringMap() };
const oldConditions = { conditions: list(core('Condition')), failureMessage: string(), failureReason: string() };
const taints = listByKeys(core('MachineTaint'), ['key', 'effect']);
const readinessGates = listByKeys(core('MachineReadinessGate'), ['conditionType']);
const conditions = listByKeys(ref(kubernetes.condition), ['type']);
const intOrString = ref(kubernetes.intOrString);

/** An object with a spec and a status. */
const kind = (description: string, name: string) =>
  object(description, {
    required: { spec: core(`${name}Spec`) },
    optional: {
      apiVersion: string(),
      kind: string(),
      metadata: ref(kubernetes.objectMeta),
      status: core(`${name}Status`),
    },
  });

const schemas: Readonly<Record<string, MessageSchema>> = {
  APIEndpoint: object('Address of the API server of a workload cluster.', {
    optional: { host: string('Host name or address.'), port: int32('Port.') },
  }),
  Bootstrap: object('Source of the bootstrap data that turns a machine into a node.', {
    optional: {
      configRef: core('ContractVersionedObjectReference', 'Configuration object of the bootstrap provider.'),
      dataSecretName: string('Secret with the data.'),
    },
  }),
  Cluster: kind('A cluster that Cluster API manages. Hooks receive it without its status.', 'Cluster'),
  ClusterAvailabilityGate: object('An additional condition for the availability of a Cluster.', {
    required: { conditionType: string() },
    optional: { polarity: string() },
  }),
  ClusterClassRef: object('The ClusterClass that a Cluster uses.', {
    required: { name: string('Name of the ClusterClass.') },
    optional: { namespace: string("Its namespace; the Cluster's own when absent.") },
  }),
  ClusterClassVariable: object('A variable that Clusters of a ClusterClass may set, and the schema of its value.', {
    required: {
      name: string('Name of the variable, 1 to 256 characters; not `builtin`, and without a dot.'),
      required: boolean('Whether every Cluster of the ClusterClass must set it.'),
      schema: core('VariableSchema'),
    },
    optional: { deprecatedV1Beta1Metadata: core('ClusterClassVariableMetadata') },
  }),
  ClusterClassVariableMetadata: object('Labels and annotations of a variable, carried over from v1beta1.', {
    optional: labelsAndAnnotations,
  }),
  ClusterControlPlaneStatus: object('Counts of control plane machines.', { optional: replicaCounts }),
  ClusterDeprecatedStatus: object('Status fields of older versions.', {
    optional: { v1beta1: core('ClusterV1Beta1DeprecatedStatus') },
  }),
  ClusterInitializationStatus: object('Completed initialization steps of a Cluster.', {
    optional: { controlPlaneInitialized: boolean(), infrastructureProvisioned: boolean() },
  }),
  ClusterNetwork: object('Network of the workload cluster.', {
    optional: {
      apiServerPort: int32(),
      pods: core('NetworkRanges'),
      serviceDomain: string(),
      services: core('NetworkRanges'),
    },
  }),
  ClusterSpec: object('Desired state of a Cluster.', {
    optional: {
      availabilityGates: listByKeys(
        core('ClusterAvailabilityGate'),
        ['conditionType'],
        'Additional conditions for availability, 1 to 32.',
      ),
      clusterNetwork: core('ClusterNetwork'),
      controlPlaneEndpoint: core('APIEndpoint'),
      controlPlaneRef: core('ContractVersionedObjectReference', 'Control plane object of the provider.'),
      infrastructureRef: core('ContractVersionedObjectReference', 'Infrastructure object of the provider.'),
      paused: boolean('Whether controllers skip the Cluster.'),
      topology: core('Topology', 'The topology, for Clusters that use a ClusterClass.'),
    },
  }),
  ClusterStatus: object('Observed state of a Cluster.', {
    optional: {
      conditions,
      controlPlane: core('ClusterControlPlaneStatus'),
      deprecated: core('ClusterDeprecatedStatus'),
      failureDomains: listByKeys(core('FailureDomain'), ['name']),
      initialization: core('ClusterInitializationStatus'),
      observedGeneration: int64(),
      phase: string(),
      workers: core('WorkersStatus'),
    },
  }),
  ClusterV1Beta1DeprecatedStatus: object('Status fields of v1beta1.', { optional: oldConditions }),
  ClusterVariable: object('The value of one variable.', {
    required: {
      name: string('Name of the variable.'),
      value: ref(kubernetes.json, 'Its value, as the schema of the variable describes it.'),
    },
  }),
  Condition: object('A condition in the v1beta1 format.', {
    required: { type: string(), status: string(), lastTransitionTime: ref(kubernetes.time) },
    optional: { message: string(), reason: string(), severity: string() },
  }),
  ContractVersionedObjectReference: object(
    'A reference to an object of a provider; the contract determines its version.',
    {
      required: {
        kind: string('Kind of the object.'),
        name: string('Name of the object.'),
        apiGroup: string('API group of the object.'),
      },
    },
  ),
  ControlPlaneTopology: object('Control plane of the topology.', {
    optional: {
      deletion: core('ControlPlaneTopologyMachineDeletionSpec'),
      healthCheck: core('ControlPlaneTopologyHealthCheck'),
      metadata: core('ObjectMeta'),
      readinessGates,
      replicas: int32('Number of control plane machines.'),
      rollout: core('ControlPlaneTopologyRolloutSpec'),
      taints,
      variables: core('ControlPlaneVariables'),
    },
  }),
  ControlPlaneTopologyHealthCheck: object('Health check of control plane machines.', {
    optional: {
      checks: core('ControlPlaneTopologyHealthCheckChecks'),
      enabled: boolean(),
      remediation: core('ControlPlaneTopologyHealthCheckRemediation'),
    },
  }),
  ControlPlaneTopologyHealthCheckChecks: object('Conditions under which a control plane machine is unhealthy.', {
    optional: unhealthyChecks,
  }),
  ControlPlaneTopologyHealthCheckRemediation: object('Remediation of unhealthy control plane machines.', {
    optional: {
      templateRef: core('MachineHealthCheckRemediationTemplateReference'),
      triggerIf: core('ControlPlaneTopologyHealthCheckRemediationTriggerIf'),
    },
  }),
  ControlPlaneTopologyHealthCheckRemediationTriggerIf: object(
    'Number of unhealthy machines up to which they are remediated.',
    { optional: triggerIf },
  ),
  ControlPlaneTopologyMachineDeletionSpec: object('Timeouts for deleting a control plane machine.', {
    optional: timeouts,
  }),
  ControlPlaneTopologyRolloutSpec: object('When control plane machines are rolled out.', {
    optional: { after: ref(kubernetes.time) },
  }),
  ControlPlaneVariables: object('Overrides of variables for the control plane.', { optional: overrides }),
  FailureDomain: object('A failure domain, for example an availability zone.', {
    required: { name: string() },
    optional: { attributes: stringMap(), controlPlane: boolean() },
  }),
  JSONSchemaProps: object('The part of JSON Schema that the schema of a variable may use.', {
    optional: {
      additionalProperties: core('JSONSchemaProps'),
      allOf: list(core('JSONSchemaProps')),
      anyOf: list(core('JSONSchemaProps')),
      default: ref(kubernetes.json),
      description: string(),
      enum: atomicList(ref(kubernetes.json)),
      example: ref(kubernetes.json),
      exclusiveMaximum: boolean(),
      exclusiveMinimum: boolean(),
      format: string(),
      items: core('JSONSchemaProps'),
      maxItems: int64(),
      maxLength: int64(),
      maxProperties: int64(),
      maximum: int64(),
      minItems: int64(),
      minLength: int64(),
      minProperties: int64(),
      minimum: int64(),
      not: core('JSONSchemaProps'),
      oneOf: list(core('JSONSchemaProps')),
      pattern: string(),
      properties: { type: 'object', additionalProperties: core('JSONSchemaProps') },
      required: atomicList(string()),
      type: string(),
      uniqueItems: boolean(),
      'x-kubernetes-int-or-string': boolean(),
      'x-kubernetes-preserve-unknown-fields': boolean(),
      'x-kubernetes-validations': listByKeys(core('ValidationRule'), ['rule']),
      'x-metadata': core('VariableSchemaMetadata'),
    },
  }),
  Machine: kind('A machine of a cluster. Hooks receive it without its status.', 'Machine'),
  MachineAddress: object('An address of a machine.', { required: { type: string(), address: string() } }),
  MachineDeletionSpec: object('Timeouts for deleting a machine.', { optional: timeouts }),
  MachineDeletionStatus: object('Progress of the deletion of a machine.', {
    optional: { nodeDrainStartTime: ref(kubernetes.time), waitForNodeVolumeDetachStartTime: ref(kubernetes.time) },
  }),
  MachineDeploymentTopology: object('A MachineDeployment of the topology.', {
    required: {
      class: string('Worker class in the ClusterClass.'),
      name: string('Name of this MachineDeployment within the topology.'),
    },
    optional: {
      deletion: core('MachineDeploymentTopologyMachineDeletionSpec'),
      failureDomain: string(),
      healthCheck: core('MachineDeploymentTopologyHealthCheck'),
      metadata: core('ObjectMeta'),
      minReadySeconds: int32(),
      readinessGates,
      replicas: int32('Number of machines.'),
      rollout: core('MachineDeploymentTopologyRolloutSpec'),
      taints,
      variables: core('MachineDeploymentVariables'),
    },
  }),
  MachineDeploymentTopologyHealthCheck: object('Health check of the machines of a MachineDeployment.', {
    optional: {
      checks: core('MachineDeploymentTopologyHealthCheckChecks'),
      enabled: boolean(),
      remediation: core('MachineDeploymentTopologyHealthCheckRemediation'),
    },
  }),
  MachineDeploymentTopologyHealthCheckChecks: object(
    'Conditions under which a machine of a MachineDeployment is unhealthy.',
    {
      optional: unhealthyChecks,
    },
  ),
  MachineDeploymentTopologyHealthCheckRemediation: object('Remediation of unhealthy machines of a MachineDeployment.', {
    optional: {
      maxInFlight: intOrString,
      templateRef: core('MachineHealthCheckRemediationTemplateReference'),
      triggerIf: core('MachineDeploymentTopologyHealthCheckRemediationTriggerIf'),
    },
  }),
  MachineDeploymentTopologyHealthCheckRemediationTriggerIf: object(
    'Number of unhealthy machines up to which they are remediated.',
    { optional: triggerIf },
  ),
  MachineDeploymentTopologyMachineDeletionSpec: object(
    'Deletion of machines of a MachineDeployment: order and timeouts.',
    {
      optional: {
        ...timeouts,
        order: string(),
      },
    },
  ),
  MachineDeploymentTopologyRolloutSpec: object('How machines of a MachineDeployment are replaced.', {
    optional: { after: ref(kubernetes.time), strategy: core('MachineDeploymentTopologyRolloutStrategy') },
  }),
  MachineDeploymentTopologyRolloutStrategy: object('Strategy for replacing old machines with new ones.', {
    required: { type: string() },
    optional: { rollingUpdate: core('MachineDeploymentTopologyRolloutStrategyRollingUpdate') },
  }),
  MachineDeploymentTopologyRolloutStrategyRollingUpdate: object('Limits of a rolling update.', {
    optional: { maxSurge: intOrString, maxUnavailable: intOrString },
  }),
  MachineDeploymentVariables: object('Overrides of variables for a MachineDeployment.', { optional: overrides }),
  MachineDeprecatedStatus: object('Status fields of older versions.', {
    optional: { v1beta1: core('MachineV1Beta1DeprecatedStatus') },
  }),
  MachineHealthCheckRemediationTemplateReference: object(
    'Reference to a template for objects that remediate machines.',
    {
      required: { kind: string(), name: string(), apiVersion: string() },
    },
  ),
  MachineInitializationStatus: object('Completed initialization steps of a machine.', {
    optional: { bootstrapDataSecretCreated: boolean(), infrastructureProvisioned: boolean() },
  }),
  MachineNamingSpec: object('Naming of machines.', { optional: { template: string() } }),
  MachineNodeReference: object('Reference to the node of a machine.', { required: { name: string() } }),
  MachinePoolTopology: object('A MachinePool of the topology.', {
    required: {
      class: string('Worker class in the ClusterClass.'),
      name: string('Name of this MachinePool within the topology.'),
    },
    optional: {
      deletion: core('MachinePoolTopologyMachineDeletionSpec'),
      failureDomains: atomicList(string()),
      metadata: core('ObjectMeta'),
      minReadySeconds: int32(),
      replicas: int32('Number of machines.'),
      taints,
      variables: core('MachinePoolVariables'),
    },
  }),
  MachinePoolTopologyMachineDeletionSpec: object('Timeouts for deleting a machine of a MachinePool.', {
    optional: timeouts,
  }),
  MachinePoolVariables: object('Overrides of variables for a MachinePool.', { optional: overrides }),
  MachineReadinessGate: object('An additional condition for the readiness of a machine.', {
    required: { conditionType: string() },
    optional: { polarity: string() },
  }),
  MachineSet: kind('A set of identical machines. Hooks receive it without its status.', 'MachineSet'),
  MachineSetDeletionSpec: object('Order in which machines of a MachineSet are deleted.', {
    optional: { order: string() },
  }),
  MachineSetDeprecatedStatus: object('Status fields of older versions.', {
    optional: { v1beta1: core('MachineSetV1Beta1DeprecatedStatus') },
  }),
  MachineSetSpec: object('Desired state of a MachineSet.', {
    required: {
      clusterName: string('The Cluster that the machines belong to.'),
      selector: ref(kubernetes.labelSelector),
      template: core('MachineTemplateSpec'),
    },
    optional: {
      deletion: core('MachineSetDeletionSpec'),
      machineNaming: core('MachineNamingSpec'),
      replicas: int32('Number of machines.'),
    },
  }),
  MachineSetStatus: object('Observed state of a MachineSet.', {
    optional: {
      availableReplicas: int32(),
      conditions,
      deprecated: core('MachineSetDeprecatedStatus'),
      observedGeneration: int64(),
      readyReplicas: int32(),
      replicas: int32(),
      selector: string(),
      upToDateReplicas: int32(),
    },
  }),
  MachineSetV1Beta1DeprecatedStatus: object('Status fields of v1beta1.', {
    optional: {
      availableReplicas: int32(),
      conditions: list(core('Condition')),
      failureMessage: string(),
      failureReason: string(),
      fullyLabeledReplicas: int32(),
      readyReplicas: int32(),
    },
  }),
  MachineSpec: object('Desired state of a machine.', {
    required: {
      clusterName: string('The Cluster that the machine belongs to.'),
      bootstrap: core('Bootstrap'),
      infrastructureRef: core('ContractVersionedObjectReference'),
    },
    optional: {
      deletion: core('MachineDeletionSpec'),
      failureDomain: string('Failure domain of the machine.'),
      minReadySeconds: int32(),
      providerID: string('ID of the machine at its provider.'),
      readinessGates,
      taints,
      version: string('Kubernetes version of the machine.'),
    },
  }),
  MachineStatus: object('Observed state of a machine.', {
    optional: {
      addresses: list(core('MachineAddress')),
      certificatesExpiryDate: ref(kubernetes.time),
      conditions,
      deletion: core('MachineDeletionStatus'),
      deprecated: core('MachineDeprecatedStatus'),
      failureDomain: string(),
      initialization: core('MachineInitializationStatus'),
      lastUpdated: ref(kubernetes.time),
      nodeInfo: ref(kubernetes.nodeSystemInfo),
      nodeRef: core('MachineNodeReference'),
      observedGeneration: int64(),
      phase: string(),
    },
  }),
  MachineTaint: object('A taint that Cluster API puts on the node of a machine.', {
    required: { key: string(), effect: string(), propagation: string() },
    optional: { value: string() },
  }),
  MachineTemplateSpec: object('Template for the machines of a MachineSet.', {
    required: { spec: core('MachineSpec') },
    optional: { metadata: core('ObjectMeta') },
  }),
  MachineV1Beta1DeprecatedStatus: object('Status fields of v1beta1.', { optional: oldConditions }),
  NetworkRanges: object('Ranges of IP addresses.', {
    required: { cidrBlocks: atomicList(string(), 'Ranges in CIDR notation.') },
  }),
  ObjectMeta: object('Labels and annotations for the objects that are created.', { optional: labelsAndAnnotations }),
  Topology: object('The topology of a Cluster that uses a ClusterClass.', {
    required: {
      classRef: core('ClusterClassRef', 'The ClusterClass.'),
      version: string('Kubernetes version of the cluster.'),
    },
    optional: {
      controlPlane: core('ControlPlaneTopology'),
      variables: listByKeys(core('ClusterVariable'), ['name'], 'Values of variables for the whole cluster.'),
      workers: core('WorkersTopology'),
    },
  }),
  UnhealthyMachineCondition: object('A Machine condition that, after a timeout, makes the machine unhealthy.', {
    required: { type: string(), status: string(), timeoutSeconds: int32() },
  }),
  UnhealthyNodeCondition: object('A node condition that, after a timeout, makes its machine unhealthy.', {
    required: { type: string(), status: string(), timeoutSeconds: int32() },
  }),
  ValidationRule: object('A CEL rule that values must satisfy.', {
    required: { rule: string('The expression; `self` is the value.') },
    optional: { fieldPath: string(), message: string(), messageExpression: string(), reason: string() },
  }),
  VariableSchema: object('The schema of the values of a variable.', {
    required: { openAPIV3Schema: core('JSONSchemaProps') },
  }),
  VariableSchemaMetadata: object('Labels and annotations of a variable.', { optional: labelsAndAnnotations }),
  WorkersStatus: object('Counts of worker machines.', { optional: replicaCounts }),
  WorkersTopology: object('Workers of the topology.', {
    optional: {
      machineDeployments: listByKeys(core('MachineDeploymentTopology'), ['name']),
      machinePools: listByKeys(core('MachinePoolTopology'), ['name']),
    },
  }),
};

/**
 * The schemas of Cluster API's core types (v1beta2) that messages use, by component name. The fields are those in the
 * OpenAPI document that Cluster API publishes; the descriptions are our own.
 */
export const coreSchemas: Readonly<Record<string, MessageSchema>> = Object.fromEntries(
  Object.entries(schemas).map(([name, schema]) => [`${prefix}${name}`, schema]),
);
