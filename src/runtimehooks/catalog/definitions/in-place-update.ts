import { defineHooks, part, request, response, retryResponse } from './parts.ts';

export const inPlaceUpdate = defineHooks(
  { tags: ['In-Place Update Hooks'], calls: 'only' },
  {
    CanUpdateMachine: {
      summary: 'Asks which changes of a machine can be made in place.',
      purpose:
        'Called for a machine of a control plane that would be replaced. If the patches in the answer turn the current state into the desired state, the machine is updated in place; otherwise it is replaced. Only one extension may serve it.',
      introduced: 12,
      about: 'Machine',
      isQuestion: true,
      request: request('A machine as it is, and as it should be.', {
        current: part('CanUpdateMachineRequestObjects', 'Current state.'),
        desired: part('CanUpdateMachineRequestObjects', 'Desired state.'),
      }),
      response: response('The changes that can be made in place, as patches to the current state.', {
        machinePatch: part('Patch', 'Patch of the Machine.'),
        infrastructureMachinePatch: part('Patch', 'Patch of the infrastructure machine.'),
        bootstrapConfigPatch: part('Patch', 'Patch of the bootstrap configuration.'),
      }),
    },
    CanUpdateMachineSet: {
      summary: 'Asks which changes of a set of machines can be made in place.',
      purpose:
        'Called for an old and a new MachineSet of a MachineDeployment; the decision is cached for a day. If the patches in the answer turn the current state into the desired state, the machines are updated in place. Only one extension may serve it.',
      introduced: 12,
      about: 'MachineSet',
      isQuestion: true,
      request: request('The current and the desired state of a set of machines.', {
        current: part('CanUpdateMachineSetRequestObjects', 'Current state.'),
        desired: part('CanUpdateMachineSetRequestObjects', 'Desired state.'),
      }),
      response: response('The changes that can be made in place, as patches to the current state.', {
        machineSetPatch: part('Patch', 'Patch of the MachineSet.'),
        infrastructureMachineTemplatePatch: part('Patch', 'Patch of the template of infrastructure machines.'),
        bootstrapConfigTemplatePatch: part('Patch', 'Patch of the template of bootstrap configurations.'),
      }),
    },
    UpdateMachine: {
      summary: 'Updates a machine in place.',
      purpose:
        'Called repeatedly until it succeeds without retryAfterSeconds, which means that the machine is up to date. Only one extension may serve it.',
      introduced: 12,
      about: 'Machine',
      blockingSince: 12,
      request: request('The desired state of a machine.', {
        desired: part('UpdateMachineRequestObjects', 'Desired state.'),
      }),
      response: retryResponse('Progress of the update: retryAfterSeconds 0 means done.'),
    },
  },
);
