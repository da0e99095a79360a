export { afterPath, afterPaths, ageReasons, readsTimes } from './age.ts';
export type { Arrivals, ControlPlaneKind, KindWithMachines, Reason } from './kind.ts';
export { controlPlaneOf } from './kinds.ts';
export { kubeadm } from './kubeadm.ts';
export { certificateCauses, clusterConfigurationCauses, kubeadmConfigCauses } from './kubeadm-config-causes.ts';
export { kubeadmDefaults, withKubeadmDefaults } from './kubeadm-configs.ts';
export {
  cloneOf,
  inRequest,
  type MachineObjects,
  machineTemplateOf,
  machineTemplatePath,
  running,
  shownMetadata,
  timeAt,
  type UpdateRequest,
} from './made-machine.ts';
