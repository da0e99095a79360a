import type { HookDefinition, ReleaseChange } from './definition.ts';
import {
  bareRequest,
  clusterChanges,
  core,
  defineHooks,
  kubernetesVersion,
  part,
  request,
  response,
  retryResponse,
  upgradeLists,
} from './parts.ts';
import { v1 } from './release.ts';
import { list, listByKeys } from './schema.ts';

const discovery = defineHooks(
  { tags: ['Discovery'], calls: 'server' },
  {
    Discovery: {
      summary: 'Asks an extension server which handlers it has.',
      purpose:
        'Called for each ExtensionConfig when Cluster API starts, when the object changes and every ten minutes. The handlers in the answer replace those in its status; one bad handler makes Cluster API refuse the whole answer.',
      isQuestion: true,
      introduced: 2,
      request: bareRequest('A request for the handlers of an extension server.'),
      response: response('The handlers of an extension server.', {
        handlers: listByKeys(part('ExtensionHandler'), ['name'], 'The handlers; there may be none.'),
      }),
    },
  },
);

const cluster = { cluster: core('Cluster', 'The Cluster, without its status.') };

const upgradeRequest = (description: string, from: string, to: string) =>
  request(
    description,
    {
      ...cluster,
      fromKubernetesVersion: kubernetesVersion(from, 'v1.32.0'),
      toKubernetesVersion: kubernetesVersion(to),
    },
    upgradeLists,
  );

const stepwise: ReleaseChange = {
  release: v1(12),
  isBreaking: true,
  text: 'it is called after each step of an upgrade, with the steps that remain, not once at its end',
  remedy: 'do not take a call as the end of the upgrade; use AfterClusterUpgrade for that',
};

const lifecycle = defineHooks(
  { tags: ['Lifecycle Hooks'], calls: 'all', about: 'Cluster', changes: clusterChanges },
  {
    BeforeClusterCreate: {
      summary: 'Before any object of a new Cluster is created.',
      purpose:
        'Called in each reconcile while a Cluster with a topology has neither infrastructure nor control plane. Blocking keeps every object of its topology from being created. It may be called again after a success.',
      introduced: 2,
      blockingSince: 2,
      request: request('A Cluster is about to be created.', cluster),
      response: retryResponse('Whether the creation may begin.'),
    },
    AfterControlPlaneInitialized: {
      summary: 'After the control plane of a new Cluster is reachable for the first time.',
      purpose:
        'Called once the control plane of the Cluster is initialized, until all handlers succeed. It cannot block. This is the usual place to install add-ons.',
      introduced: 2,
      request: request('The control plane of a Cluster is initialized.', cluster),
      response: response('Whether the extension did its work.'),
    },
    BeforeClusterUpgrade: {
      summary: 'Before a Cluster is upgraded to another version of Kubernetes.',
      purpose:
        'Called when the version of the topology differs from that of the control plane and everything is stable. Blocking holds back the upgrade, and other changes to the objects that wait for it.',
      introduced: 2,
      blockingSince: 2,
      request: upgradeRequest(
        'An upgrade is about to begin.',
        'Version that the control plane has.',
        'Version that the upgrade ends with.',
      ),
      response: retryResponse('Whether the upgrade may begin.'),
    },
    BeforeControlPlaneUpgrade: {
      summary: 'Before each step of the upgrade of a control plane.',
      purpose:
        'Called before the control plane goes to the next version of the plan, which is not always the last one. Blocking keeps it where it is.',
      introduced: 12,
      blockingSince: 12,
      request: upgradeRequest(
        'The control plane is about to take a step.',
        'Version that the control plane has.',
        'Version that this step ends with.',
      ),
      response: retryResponse('Whether the step may begin.'),
    },
    AfterControlPlaneUpgrade: {
      summary: 'After each step of the upgrade of a control plane.',
      purpose:
        'Called when all machines of the control plane have the version of the step (since 1.12 after each step, before only at the end). Blocking holds back workers and the next step.',
      changes: [stepwise],
      introduced: 2,
      blockingSince: 2,
      request: request(
        'The control plane has taken a step.',
        { ...cluster, kubernetesVersion: kubernetesVersion('Version that the control plane now has.') },
        upgradeLists,
      ),
      response: retryResponse('Whether the upgrade may go on.'),
    },
    BeforeWorkersUpgrade: {
      summary: 'Before workers are upgraded.',
      purpose:
        "Called after the control plane has reached a version that is also a step of the workers' plan. Blocking holds back the workers and the next step.",
      introduced: 12,
      blockingSince: 12,
      request: upgradeRequest(
        'The workers are about to take a step.',
        'Lowest version of any worker.',
        'Version that this step ends with: that of the control plane.',
      ),
      response: retryResponse('Whether the step may begin.'),
    },
    AfterWorkersUpgrade: {
      summary: 'After workers are upgraded.',
      purpose: 'Called when all workers have the version of the step. Blocking holds back the next step.',
      introduced: 12,
      blockingSince: 12,
      request: request(
        'The workers have taken a step.',
        { ...cluster, kubernetesVersion: kubernetesVersion('Version that the workers now have.') },
        upgradeLists,
      ),
      response: retryResponse('Whether the upgrade may go on.'),
    },
    AfterClusterUpgrade: {
      summary: 'After a Cluster is upgraded.',
      purpose:
        'Called when control plane and workers have the version of the topology. Blocking (since 1.12) denies the next change of the version.',
      introduced: 2,
      blockingSince: 12,
      request: request('An upgrade is complete.', {
        ...cluster,
        kubernetesVersion: kubernetesVersion('Version that the Cluster now has.'),
      }),
      response: retryResponse('Whether the next upgrade may begin.'),
    },
    BeforeClusterDelete: {
      summary: 'Before the objects of a Cluster are deleted.',
      purpose:
        'Called when the Cluster is being deleted. Blocking keeps all objects that belong to it. This is the usual place to clean up load balancers and volumes.',
      introduced: 2,
      blockingSince: 2,
      request: request('A Cluster is about to be deleted.', cluster),
      response: retryResponse('Whether the deletion may begin.'),
    },
  },
);

const variables = {
  variables: list(part('Variable'), 'Variables of the whole cluster; those of an item take precedence.'),
};

const templateChanges: readonly ReleaseChange[] = [
  {
    release: v1(11),
    // The version of the holders is that of the controller's own types.
    isBreaking: false,
    text: 'holders in the core group are v1beta2 (before: v1beta1)',
    remedy: 'compare kind and fieldPath of a holder, not its apiVersion',
    coreBefore: 'v1beta1',
  },
  {
    release: v1(11),
    isBreaking: true,
    text: 'the builtin variable has no cluster.network.ipFamily',
    remedy: 'derive it from the CIDR blocks',
  },
  {
    release: v1(13),
    // The fields are the same: labels and annotations.
    isBreaking: false,
    text: 'the metadata of builtin variables (cluster, controlPlane, machineDeployment, machinePool) has the type of v1beta2',
    remedy: 'build Go extensions with the 1.13 module; JSON is read as before',
  },
];

const patchedMetadata: ReleaseChange = {
  release: v1(14),
  isBreaking: true,
  text: 'patches of labels and annotations in templates have an effect: earlier releases dropped them silently, so those that were there all along replace machines after the upgrade',
  remedy: 'look for patches of metadata before the upgrade ("rehearse" shows their effect), and remove unwanted ones',
};

const variableChange: ReleaseChange = {
  release: v1(13),
  isBreaking: true,
  text: 'variables of answers are ClusterClassVariables of v1beta2 (before: v1beta1): metadata is deprecatedV1Beta1Metadata',
  remedy: 'answer in a form that both can read: no metadata in variables',
  coreBefore: 'v1beta1',
};

const topologyMutation = defineHooks(
  { tags: ['Topology Mutation Hook'], calls: 'named' },
  {
    GeneratePatches: {
      summary: 'Patches the templates of a ClusterClass for one Cluster.',
      purpose:
        'Called for each external patch of the ClusterClass, in its order, in every reconcile of every Cluster: answer fast, without side effects, and the same for the same input. Any error stops the topology reconcile.',
      changes: [...templateChanges, patchedMetadata],
      about: 'topology',
      isQuestion: true,
      introduced: 2,
      request: request(
        'Templates that may be patched.',
        { items: list(part('GeneratePatchesRequestItem'), 'The templates.') },
        variables,
      ),
      response: response('Patches to templates.', {
        items: list(part('GeneratePatchesResponseItem'), 'The patches, applied in this order.'),
      }),
    },
    ValidateTopology: {
      summary: 'Checks the templates of one Cluster after all patches.',
      purpose: 'Called for each external patch that names a validator. `Failure` stops the topology reconcile.',
      changes: templateChanges,
      about: 'topology',
      isQuestion: true,
      introduced: 2,
      request: request(
        'Templates with all patches applied.',
        { items: list(part('ValidateTopologyRequestItem'), 'The templates.') },
        variables,
      ),
      response: response('Whether the topology is valid.'),
    },
    DiscoverVariables: {
      summary: 'Asks which variables an external patch needs.',
      purpose:
        'Called for each external patch of a ClusterClass that names it; the answer is cached for ten minutes. Without it no Cluster of the class is reconciled.',
      changes: [variableChange],
      isQuestion: true,
      introduced: 4,
      request: request('A request for the variables that an external patch needs.', {}),
      response: response('Variables, with the schemas of their values.', {
        variables: list(core('ClusterClassVariable'), 'The variables.'),
      }),
    },
  },
);

const inPlaceUpdate = defineHooks(
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

const upgradePlan = defineHooks(
  { tags: ['Chained Upgrade Hook'], calls: 'named' },
  {
    GenerateUpgradePlan: {
      summary: 'Asks which versions an upgrade goes through.',
      purpose:
        'Called when a version differs from the target and the ClusterClass names a plan extension; the answer is cached for ten minutes. The plan has at least one version for each minor release, in ascending order, with the target last.',
      introduced: 12,
      about: 'Cluster',
      isQuestion: true,
      request: request(
        'An upgrade that needs a plan.',
        {
          cluster: core('Cluster', 'The Cluster, without its status.'),
          fromControlPlaneKubernetesVersion: kubernetesVersion('Version that the control plane has.', 'v1.32.0'),
          toKubernetesVersion: kubernetesVersion('Version that the upgrade ends with.'),
        },
        {
          fromWorkersKubernetesVersion: kubernetesVersion(
            'Lowest version of any worker; absent without workers.',
            'v1.32.0',
          ),
        },
      ),
      response: response('The plan.', {
        controlPlaneUpgrades: list(part('UpgradeStep'), 'Steps of the control plane; none when it is at the target.'),
        workersUpgrades: list(part('UpgradeStep'), 'Steps of the workers; none lets Cluster API choose.'),
      }),
    },
  },
);

/** Cluster API's hooks by name, typed by their messages. */
export const hooks = { ...discovery, ...lifecycle, ...topologyMutation, ...inPlaceUpdate, ...upgradePlan } as const;

/** Cluster API's hooks in the order of a Cluster's lifecycle. */
export const clusterApiHooks: readonly HookDefinition[] = Object.values(hooks);

/** Name of a hook. */
export type HookName = keyof typeof hooks;

/**
 * Names of the hooks for which Cluster API expects one handler in the whole cluster; if there are more, every decision
 * fails.
 */
export const exclusiveHooks: ReadonlySet<string> = new Set(
  clusterApiHooks.filter(({ calls }) => calls === 'only').map(({ name }) => name),
);
