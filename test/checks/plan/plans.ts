import { type Cause, type ClusterPlan, type GroupPlan, type Plan, sumOf } from '../../../src/topology/index.ts';

export const files: Cause = {
  object: 'KubeadmControlPlane default/f1-x7k2p',
  field: 'spec.kubeadmConfigSpec.files',
  before: [{ path: '/etc/audit.yaml', content: 'level: None\n' }],
  after: [{ path: '/etc/audit.yaml', content: 'level: Metadata\n' }],
  from: 'patch audit, variable auditLevel',
};

export const controlPlane: GroupPlan = {
  group: 'control-plane',
  kind: 'KubeadmControlPlane',
  name: 'f1-x7k2p',
  verdict: 'replaced',
  machines: { before: 3, after: 3, replaced: 3, inPlace: 0 },
  causes: [files],
  replaces: ['f1-x7k2p-a', 'f1-x7k2p-b', 'f1-x7k2p-c'],
};

export const workers: GroupPlan = {
  group: 'md-0',
  kind: 'MachineDeployment',
  name: 'f1-md-0-s7hlv',
  verdict: 'unchanged',
  machines: { before: 2, after: 2, replaced: 0, inPlace: 0 },
  causes: [],
};

export const cluster = (name: string, ...groups: GroupPlan[]): ClusterPlan => ({ cluster: name, groups, problems: [] });

export const planOf = (...clusters: ClusterPlan[]): Plan => ({ clusters, sum: sumOf(clusters) });
