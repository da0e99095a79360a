import { textAt } from '../../kubernetes/index.ts';
import { all, type MachinePoolKind, type PoolChange, written } from './kind.ts';

/**
 * A pool of containers: one is outdated if its image is not that of the version, or the custom image (GetMapping in
 * test/infrastructure/kind/mapper.go; isMachineMatchingInfrastructureSpec, reconcileDockerContainers and reconcileDevMachines
 * in test/infrastructure/docker/internal/controllers, v1.13 and v1.14).
 *
 * @param template where the containers are described.
 */
function containers(kind: string, template: readonly string[]): MachinePoolKind {
  const isCustom = ({ after }: PoolChange) => textAt(after.infrastructure, ...template, 'customImage') !== '';
  const field = (name: string) => [...template.slice(1), name].join('.');
  return {
    kind,
    fields: {
      object: {
        ...all((change) => (isCustom(change) ? 'ignored' : 'replaces'), 'template.spec.version'),
        ...all('newInstances', 'template.spec.bootstrap'),
      },
      bootstrap: { '': 'newInstances' },
      infrastructure: {
        ...written,
        ...all('replaces', field('customImage')),
        ...all('newInstances', field('preLoadImages'), field('extraMounts')),
      },
    },
    manner: () => 'all new Machines come first, then each of the old ones is deleted',
  };
}

export const docker: readonly MachinePoolKind[] = [
  containers('DockerMachinePool', ['spec', 'template']),
  containers('DevMachinePool', ['spec', 'backend', 'docker']),
];
