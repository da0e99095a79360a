import { defineInPlaceChanges, HandlerFailure, type MachineUpdater } from 'cluster-api-extension';
import { knownFields } from './template-types.ts';

/** The fields that the extension can change. A machine with any other change is replaced. */
export const changes = defineInPlaceChanges(
  {
    // machine: ['spec.version'],
    // infrastructureMachine: { DockerMachine: ['spec.bootstrapTimeout'] },
    // bootstrapConfig: { KubeadmConfig: ['spec.files'] },
  },
  knownFields,
);

/** How the extension updates machines. Put your way to reach nodes here; then remove update-machine from `todo` in test/handlers.test.ts. */
export const updater: MachineUpdater = {
  async look() {
    throw new HandlerFailure('this extension cannot update machines yet');
  },
  async begin() {},
  async kubeletVersion() {
    return undefined;
  },
};
