import { expect, test } from 'vitest';
import {
  clusterApiHooks,
  formatRelease,
  type HookName,
  hookIn,
  newestKnownRelease,
  parseRelease,
} from '../../../src/runtimehooks/index.ts';

/**
 * The fields of the messages, as the Go types of each release of Cluster API have them: those of the first release with the
 * hook, and `since` those that came later. All have apiVersion and kind, and all responses status and message.
 */
const fields: Record<HookName, { request: string; response?: string; since?: Record<number, string> }> = {
  Discovery: { request: '', response: 'handlers' },
  BeforeClusterCreate: { request: 'cluster', response: 'retryAfterSeconds', since: { 4: 'settings' } },
  AfterControlPlaneInitialized: { request: 'cluster', since: { 4: 'settings' } },
  BeforeClusterUpgrade: {
    request: 'cluster fromKubernetesVersion toKubernetesVersion',
    response: 'retryAfterSeconds',
    since: { 4: 'settings', 12: 'controlPlaneUpgrades workersUpgrades' },
  },
  BeforeControlPlaneUpgrade: {
    request: 'settings cluster fromKubernetesVersion toKubernetesVersion controlPlaneUpgrades workersUpgrades',
    response: 'retryAfterSeconds',
  },
  AfterControlPlaneUpgrade: {
    request: 'cluster kubernetesVersion',
    response: 'retryAfterSeconds',
    since: { 4: 'settings', 12: 'controlPlaneUpgrades workersUpgrades' },
  },
  BeforeWorkersUpgrade: {
    request: 'settings cluster fromKubernetesVersion toKubernetesVersion controlPlaneUpgrades workersUpgrades',
    response: 'retryAfterSeconds',
  },
  AfterWorkersUpgrade: {
    request: 'settings cluster kubernetesVersion controlPlaneUpgrades workersUpgrades',
    response: 'retryAfterSeconds',
  },
  AfterClusterUpgrade: { request: 'cluster kubernetesVersion', since: { 4: 'settings', 12: 'retryAfterSeconds' } },
  BeforeClusterDelete: { request: 'cluster', response: 'retryAfterSeconds', since: { 4: 'settings' } },
  GeneratePatches: { request: 'variables items', response: 'items', since: { 4: 'settings' } },
  ValidateTopology: { request: 'variables items', since: { 4: 'settings' } },
  DiscoverVariables: { request: 'settings', response: 'variables' },
  CanUpdateMachine: {
    request: 'settings current desired',
    response: 'machinePatch infrastructureMachinePatch bootstrapConfigPatch',
  },
  CanUpdateMachineSet: {
    request: 'settings current desired',
    response: 'machineSetPatch infrastructureMachineTemplatePatch bootstrapConfigTemplatePatch',
  },
  UpdateMachine: { request: 'settings desired', response: 'retryAfterSeconds' },
  GenerateUpgradePlan: {
    request: 'settings cluster fromControlPlaneKubernetesVersion fromWorkersKubernetesVersion toKubernetesVersion',
    response: 'controlPlaneUpgrades workersUpgrades',
  },
};

const wordsOf = (...texts: (string | undefined)[]) => texts.flatMap((text) => (text ? text.split(' ') : []));

test.each(clusterApiHooks)('the messages of $name have, in each release, the fields of then', (hook) => {
  const { request, response, since = {} } = fields[hook.name as HookName];
  for (let minor = hook.introduced.minor; minor <= newestKnownRelease.minor; minor++) {
    const release = parseRelease(`1.${minor}`)!;
    const then = hookIn(hook, release);
    const later = Object.entries(since).flatMap(([first, names]) => (Number(first) <= minor ? [names] : []));
    const found = [then.request, then.response].flatMap(({ schema }) => Object.keys(schema.properties ?? {}));
    const expected = [
      'apiVersion',
      'apiVersion',
      'kind',
      'kind',
      'status',
      'message',
      ...wordsOf(request, response, ...later),
    ];
    expect(found.toSorted(), formatRelease(release)).toEqual(expected.toSorted());
  }
});
