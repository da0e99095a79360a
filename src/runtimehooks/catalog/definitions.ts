import { defineHooks } from './define-hooks.ts';
import type { HookDefinition, ReleaseChange } from './definition.ts';
import { v1 } from './lifecycle.ts';

const discovery = defineHooks(
  { tags: ['Discovery'], calls: 'server' },
  {
    Discovery: {
      summary: 'Asks an extension server which handlers it has.',
      purpose:
        'Called for each ExtensionConfig when Cluster API starts, when the object changes and every ten minutes. The handlers in the answer replace those in its status; one bad handler makes Cluster API refuse the whole answer.',
      isQuestion: true,
      introduced: 2,
    },
  },
);

/** From the release notes and migration guides of Cluster API, oldest first: what changed in the Cluster of requests. */
const clusterChanges: readonly ReleaseChange[] = [
  {
    release: v1(11),
    isBreaking: true,
    text: 'the Cluster of requests has no status, no managedFields and no last-applied annotation',
    remedy: 'read the status from the API server if it is needed',
  },
  {
    release: v1(13),
    isBreaking: true,
    text: 'the Cluster of requests is v1beta2 (before: v1beta1), under the same version of the hook',
    remedy: 'read both versions of the Cluster before the upgrade',
    coreBefore: 'v1beta1',
  },
];

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
    },
    AfterControlPlaneInitialized: {
      summary: 'After the control plane of a new Cluster is reachable for the first time.',
      purpose:
        'Called once the control plane of the Cluster is initialized, until all handlers succeed. It cannot block. This is the usual place to install add-ons.',
      introduced: 2,
    },
    BeforeClusterUpgrade: {
      summary: 'Before a Cluster is upgraded to another version of Kubernetes.',
      purpose:
        'Called when the version of the topology differs from that of the control plane and everything is stable. Blocking holds back the upgrade, and other changes to the objects that wait for it.',
      introduced: 2,
    },
    BeforeControlPlaneUpgrade: {
      summary: 'Before each step of the upgrade of a control plane.',
      purpose:
        'Called before the control plane goes to the next version of the plan, which is not always the last one. Blocking keeps it where it is.',
      introduced: 12,
    },
    AfterControlPlaneUpgrade: {
      summary: 'After each step of the upgrade of a control plane.',
      purpose:
        'Called when all machines of the control plane have the version of the step (since 1.12 after each step, before only at the end). Blocking holds back workers and the next step.',
      changes: [stepwise],
      introduced: 2,
    },
    BeforeWorkersUpgrade: {
      summary: 'Before workers are upgraded.',
      purpose:
        "Called after the control plane has reached a version that is also a step of the workers' plan. Blocking holds back the workers and the next step.",
      introduced: 12,
    },
    AfterWorkersUpgrade: {
      summary: 'After workers are upgraded.',
      purpose: 'Called when all workers have the version of the step. Blocking holds back the next step.',
      introduced: 12,
    },
    AfterClusterUpgrade: {
      summary: 'After a Cluster is upgraded.',
      purpose:
        'Called when control plane and workers have the version of the topology. Blocking (since 1.12) denies the next change of the version.',
      introduced: 2,
      blockingSince: 12,
    },
    BeforeClusterDelete: {
      summary: 'Before the objects of a Cluster are deleted.',
      purpose:
        'Called when the Cluster is being deleted. Blocking keeps all objects that belong to it. This is the usual place to clean up load balancers and volumes.',
      introduced: 2,
    },
  },
);

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
    },
    ValidateTopology: {
      summary: 'Checks the templates of one Cluster after all patches.',
      purpose: 'Called for each external patch that names a validator. `Failure` stops the topology reconcile.',
      changes: templateChanges,
      about: 'topology',
      isQuestion: true,
      introduced: 2,
    },
    DiscoverVariables: {
      summary: 'Asks which variables an external patch needs.',
      purpose:
        'Called for each external patch of a ClusterClass that names it; the answer is cached for ten minutes. Without it no Cluster of the class is reconciled.',
      changes: [variableChange],
      isQuestion: true,
      introduced: 4,
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
    },
    CanUpdateMachineSet: {
      summary: 'Asks which changes of a set of machines can be made in place.',
      purpose:
        'Called for an old and a new MachineSet of a MachineDeployment; the decision is cached for a day. If the patches in the answer turn the current state into the desired state, the machines are updated in place. Only one extension may serve it.',
      introduced: 12,
      about: 'MachineSet',
      isQuestion: true,
    },
    UpdateMachine: {
      summary: 'Updates a machine in place.',
      purpose:
        'Called repeatedly until it succeeds without retryAfterSeconds, which means that the machine is up to date. Only one extension may serve it.',
      introduced: 12,
      about: 'Machine',
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
    },
  },
);

/** Changes that concern the calls of all hooks, oldest first. */
export const generalChanges: readonly ReleaseChange[] = [
  {
    release: v1(4),
    isBreaking: false,
    text: 'requests carry settings of the ExtensionConfig',
    remedy: 'ignore unknown fields',
  },
  {
    release: v1(10),
    isBreaking: true,
    text: 'many empty fields of requests (items, variables) are omitted',
    remedy: 'read an absent list as an empty one',
  },
  {
    release: v1(14),
    isBreaking: false,
    text: 'messages of Failures appear in conditions, where everyone who may read Clusters sees them',
    remedy: 'put no secrets and nothing that changes by itself in messages; "conformance" checks both',
  },
  {
    release: v1(14),
    isBreaking: false,
    text: 'v1beta1 of Cluster API is planned to be removed in v1.16 (April 2027)',
    remedy: 'write manifests, and read Clusters, as v1beta2',
  },
  {
    release: v1(14),
    // A server that answers Discovery does not redirect, and hooks have the same address.
    isBreaking: false,
    text: 'redirects are no longer followed',
    remedy: 'name the final address in spec.clientConfig',
  },
];

/** Cluster API's hooks by name, typed by their messages. */
export const hooks = { ...discovery, ...lifecycle, ...topologyMutation, ...inPlaceUpdate, ...upgradePlan } as const;

/** Cluster API's hooks in the order of a Cluster's lifecycle. */
export const clusterApiHooks: readonly HookDefinition[] = Object.values(hooks);

export type HookName = keyof typeof hooks;

/** Names of the hooks of which Cluster API wants one handler in the whole cluster: with more, every decision fails. */
export const exclusiveHooks: ReadonlySet<string> = new Set(
  clusterApiHooks.filter(({ calls }) => calls === 'only').map(({ name }) => name),
);
