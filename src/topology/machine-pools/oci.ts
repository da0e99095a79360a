import { fieldAt } from '../../kubernetes/index.ts';
import { all, type MachinePoolKind, type Rule, written } from './kind.ts';

// Facts of oracle/cluster-api-provider-oci, v0.23 and v0.24.

/**
 * Another instance configuration is made, and the pool refers to it: instances stay (ReconcileInstanceConfiguration and
 * UpdatePool in cloud/scope/machine_pool.go). Placements are sent when the pool is created.
 */
const ociMachinePool: MachinePoolKind = {
  kind: 'OCIMachinePool',
  fields: {
    object: {
      ...all('ignored', 'template.spec.version', 'failureDomains'),
      ...all('newInstances', 'template.spec.bootstrap'),
    },
    bootstrap: { '': 'newInstances' },
    infrastructure: {
      ...written,
      ...all('inPlace', 'ocid', 'instanceConfiguration.instanceConfigurationId'),
      ...all('newInstances', 'instanceConfiguration'),
      ...all('ignored', 'placementDetails'),
    },
  },
};

/** Nodes stay as they are, unless OKE cycles them (UpdateNodePool in cloud/scope/managed_machine_pool.go). */
const ofNodes: Rule = ({ after }) =>
  fieldAt(after.infrastructure, 'spec', 'nodePoolCyclingDetails', 'isNodeCyclingEnabled') === true
    ? 'service'
    : 'newInstances';

/** The version is that of its own spec. */
const ociManagedMachinePool: MachinePoolKind = {
  kind: 'OCIManagedMachinePool',
  service: 'OKE',
  fields: {
    object: { ...all('ignored', 'template.spec.version', 'template.spec.bootstrap', 'failureDomains') },
    bootstrap: { '': 'ignored' },
    infrastructure: {
      ...written,
      ...all('inPlace', 'id', 'nodePoolCyclingDetails', 'nodeEvictionNodePoolSettings'),
      ...all(ofNodes, 'version', 'nodeShape', 'nodeShapeConfig', 'nodeSourceViaImage', 'sshPublicKey', 'nodeMetadata'),
      ...all(ofNodes, 'initialNodeLabels'),
      ...all('service', 'nodePoolNodeConfig'),
    },
  },
};

export const oci: readonly MachinePoolKind[] = [ociMachinePool, ociManagedMachinePool];
