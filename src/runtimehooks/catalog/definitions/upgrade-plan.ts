import { list } from '../schema.ts';
import { core, defineHooks, kubernetesVersion, part, request, response } from './parts.ts';

export const upgradePlan = defineHooks(
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
