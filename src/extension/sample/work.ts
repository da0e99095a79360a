import { setTimeout as sleep } from 'node:timers/promises';
import { hooks } from '../../runtimehooks/index.ts';
import type { FinalAnswers, HookName } from '../sdk/handlers/answer.ts';
import { type Handler, handler } from '../sdk/handlers/handler.ts';
import { createJobs } from '../sdk/jobs/jobs.ts';
import { defineInPlaceChanges } from '../sdk/objects/in-place.ts';
import { defineVariables, setField, walkTemplates } from '../sdk/topology/index.ts';
import { planUpgrade } from '../sdk/upgrade-plan.ts';

const updateSeconds = 2;

const updates = createJobs({
  retryAfterSeconds: 1,
  run: (_, signal) => sleep(updateSeconds * 1000, undefined, { signal }),
});

/** The sample's variable, which becomes a label of the objects made of templates. */
const variables = defineVariables({
  sampleLabel: {
    schema: {
      type: 'string',
      description: 'Value of the label sample-extension of all objects that are created from templates.',
      maxLength: 63,
    },
  },
});

const changes = defineInPlaceChanges({ machine: ['spec.version', 'spec.failureDomain'] });

/** The handlers of the hooks that ask for more than agreement, named as those of Cluster API's own test extension. */
const working: readonly Handler[] = [
  handler('GeneratePatches', {
    name: 'generate-patches',
    handle: (request, { answer, log }) => {
      const items = walkTemplates(
        request,
        [
          {
            mutate(template, { values: { sampleLabel } }) {
              if (sampleLabel !== undefined) {
                setField(template, 'spec.template.metadata.labels["sample-extension"]', sampleLabel);
              }
            },
          },
        ],
        { variables, log },
      );
      return answer.done({ items });
    },
  }),
  handler('DiscoverVariables', {
    name: 'discover-variables',
    handle: (_, { answer }) => answer.done({ variables: variables.definitions }),
  }),
  handler('CanUpdateMachine', {
    name: 'can-update-machine',
    handle: (request, { answer }) => answer.done(changes.machinePatches(request)),
  }),
  handler('CanUpdateMachineSet', {
    name: 'can-update-machineset',
    handle: (request, { answer }) => answer.done(changes.machineSetPatches(request)),
  }),
  handler('UpdateMachine', {
    name: 'update-machine',
    handle: ({ desired: { machine } }, context) =>
      updates.answer(context, {
        key: machine.spec.version ?? 'no version',
        message: 'the machine is being updated',
      }),
  }),
  handler('GenerateUpgradePlan', {
    name: 'generate-upgrade-plan',
    handle: (request, { answer }) => answer.done(planUpgrade(request)),
  }),
];

const names = Object.keys(hooks).filter((name) => name !== 'Discovery') as HookName[];

/**
 * The handlers of the sample extension, one for each hook. They agree to everything; what is made of templates gets a
 * label if a Cluster asks for it.
 */
export const handlers: readonly Handler[] = names.map(
  (hook) =>
    working.find((one) => one.hook.name === hook) ??
    handler(hook, {
      name: hook.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase(),
      handle: (_, { answer }) => (answer as FinalAnswers<never>).done(),
    }),
);
