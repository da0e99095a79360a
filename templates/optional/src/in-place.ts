import { HandlerFailure, machines } from 'cluster-api-extension';
import { knownFields } from './template-types.ts';

/** The handlers of updates in place. Put your way to reach nodes here; then remove update-machine from `todo` in test/handlers.test.ts. */
export const [canUpdateMachine, canUpdateMachineSet, updateMachine] = machines.inPlace(
  [
    {
      name: 'update',
      // The fields that the extension can change. A machine with any other change is replaced.
      covers: {
        // machine: ['spec.version'],
        // infrastructureMachine: { DockerMachine: ['spec.bootstrapTimeout'] },
        // bootstrapConfig: { KubeadmConfig: ['spec.files'] },
      },
      async look() {
        throw new HandlerFailure('this extension cannot update machines yet');
      },
      async begin() {},
      async kubeletVersion() {
        return undefined;
      },
    },
  ],
  { knownFields },
);
