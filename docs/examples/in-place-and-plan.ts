// The updates in place and upgrade plans of Cluster API's own test extension (in Go: test/extension, release 1.14).
import { createJobs, defineInPlaceChanges, handler, planUpgrade } from 'cluster-api-extension';

const changes = defineInPlaceChanges({
  machine: ['spec.version', 'spec.failureDomain'],
  infrastructureMachine: { DevMachine: ['spec.backend.docker.bootstrapTimeout'] },
  bootstrapConfig: { KubeadmConfig: ['spec.clusterConfiguration.etcd.local.imageTag', 'spec.files'] },
});

const isDisabled = (settings: Readonly<Record<string, string>>) => settings.disableInPlaceUpdates === 'true';

export const canUpdateMachine = handler('CanUpdateMachine', {
  name: 'can-update-machine',
  handle: (request, { answer, settings }) => answer.done(isDisabled(settings) ? {} : changes.machinePatches(request)),
});

export const canUpdateMachineSet = handler('CanUpdateMachineSet', {
  name: 'can-update-machineset',
  handle: (request, { answer, settings }) =>
    answer.done(isDisabled(settings) ? {} : changes.machineSetPatches(request)),
});

const updates = createJobs({ retryAfterSeconds: 5, run: async () => {} });

/** Only pretends, as the original does; for real updates, use `machines.inPlace`. */
export const updateMachine = handler('UpdateMachine', {
  name: 'update-machine',
  handle: ({ desired: { machine } }, context) =>
    isDisabled(context.settings)
      ? context.answer.fail('called although CanUpdateMachine and CanUpdateMachineSet returned no patches')
      : updates.answer(context, {
          key: JSON.stringify(machine.spec),
          message: 'Extension is updating Machine',
        }),
});

export const generateUpgradePlan = handler('GenerateUpgradePlan', {
  name: 'generate-upgrade-plan',
  handle: (request, { answer }) => answer.done(planUpgrade(request)),
});
