import type { ReleaseChange } from '../definition.ts';
import { v1 } from '../release.ts';
import {
  clusterChanges,
  core,
  defineHooks,
  kubernetesVersion,
  request,
  response,
  retryResponse,
  upgradeLists,
} from './parts.ts';

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

export const lifecycle = defineHooks(
  { tags: ['Lifecycle Hooks'], calls: 'all', changes: clusterChanges },
  {
    BeforeClusterCreate: {
      summary: 'Before any object of a new Cluster is created.',
      purpose:
        'Called in each reconcile while a Cluster with a topology has neither infrastructure nor control plane. Blocking keeps every object of its topology from being created. It may be called again after a success.',
      introduced: 2,
      about: 'Cluster',
      blockingSince: 2,
      request: request('A Cluster is about to be created.', cluster),
      response: retryResponse('Whether the creation may begin.'),
    },
    AfterControlPlaneInitialized: {
      summary: 'After the control plane of a new Cluster is reachable for the first time.',
      purpose:
        'Called once the control plane of the Cluster is initialized, until all handlers succeed. It cannot block. This is the usual place to install add-ons.',
      introduced: 2,
      about: 'Cluster',
      request: request('The control plane of a Cluster is initialized.', cluster),
      response: response('Whether the extension did its work.'),
    },
    BeforeClusterUpgrade: {
      summary: 'Before a Cluster is upgraded to another version of Kubernetes.',
      purpose:
        'Called when the version of the topology differs from that of the control plane and everything is stable. Blocking holds back the upgrade, and other changes to the objects that wait for it.',
      introduced: 2,
      about: 'Cluster',
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
      about: 'Cluster',
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
      about: 'Cluster',
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
      about: 'Cluster',
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
      about: 'Cluster',
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
      about: 'Cluster',
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
      about: 'Cluster',
      blockingSince: 2,
      request: request('A Cluster is about to be deleted.', cluster),
      response: retryResponse('Whether the deletion may begin.'),
    },
  },
);
