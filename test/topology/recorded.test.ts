import { describe, expect, test } from 'vitest';
import { type JsonObject, objectAt } from '../../src/kubernetes/index.ts';
import { isMade } from '../../src/topology/index.ts';
import { testRows } from '../support/rows.ts';
import { groupsOf, planOf, type RecordedChange, recordedChanges } from './recorded.ts';

const named = recordedChanges.map((change) => [change.name, change] as const);

describe('changes of a real Cluster API', () => {
  testRows('are planned as they went', named, async (change) => {
    const plan = await planOf(change);
    expect(groupsOf(plan)).toEqual(change.expected);
    const problems = plan.clusters.flatMap((cluster) => cluster.problems.map(({ text }) => text));
    expect(problems).toEqual(change.condition === '' ? [] : [change.condition]);
  });

  const written = named.filter(([name, { exchanges }]) => exchanges.length === 0 && !name.startsWith('F-'));

  testRows('are planned the same, of what users write alone', written, async (change) => {
    const ofUsers = (objects: readonly JsonObject[]): JsonObject[] =>
      objects
        .filter((object) => !isMade(object))
        .map(({ status: _status, ...object }) => {
          const {
            controlPlaneRef: _controlPlane,
            infrastructureRef: _infrastructure,
            ...spec
          } = objectAt(object, 'spec');
          return object.kind === 'Cluster' ? { ...object, spec } : object;
        });
    const plan = await planOf({ ...change, before: ofUsers(change.before), after: ofUsers(change.after) });
    expect(groupsOf(plan)).toEqual(change.expected);
  });

  testRows('afterwards, nothing changes any more', named, async (change) => {
    const plan = await planOf({ ...change, before: change.after });
    const verdicts = new Set(Object.values(groupsOf(plan)).map(({ verdict }) => verdict));
    // Where Cluster API has stopped, it still does.
    expect(verdicts).toEqual(new Set([change.condition === '' ? 'unchanged' : 'stopped']));
  });

  test.each<[string, string[]]>([
    ['audit-level', ['control-plane spec.kubeadmConfigSpec.files: patch audit, variable auditLevel']],
    [
      'node-label',
      [
        'md-0 spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs: patch nodeLabel, variable nodeLabel',
      ],
    ],
    ['E3-only-md-0', ['md-0 spec.template.spec.preKubeadmCommands: patch external, extension generatepatches.patcher']],
    [
      'E8-wrong-type',
      ['control-plane spec.kubeadmConfigSpec.preKubeadmCommands: patch external, extension generatepatches.patcher'],
    ],
    [
      'I3-cp-infrastructure-uncovered',
      [
        'control-plane spec.template.spec.backend.inMemory.vm.provisioning.startupDuration: template DevMachineTemplate fleet-cp-9 instead of DevMachineTemplate fleet-cp',
      ],
    ],
    [
      'I5-version-uncovered',
      [
        'control-plane spec.version: version',
        'control-plane spec.kubeadmConfigSpec.files: patch audit, builtin.controlPlane.version',
        'md-0 spec.template.spec.version: version',
        'md-1 spec.template.spec.version: version',
      ],
    ],
    ['T-rollout-after', ['control-plane spec.rollout.after: rollout.after of spec.topology.controlPlane']],
    ['K-etcd', ['control-plane spec.kubeadmConfigSpec.clusterConfiguration.etcd: patch etcd']],
  ])('%s: its causes', async (name, causes) => {
    const change = recordedChanges.find((one) => one.name === name) as RecordedChange;
    const { clusters } = await planOf(change);
    const shown = clusters.flatMap(({ groups }) =>
      groups.flatMap(({ group, causes: all }) => all.map(({ field, from }) => `${group} ${field}: ${from}`)),
    );
    expect(shown).toEqual(causes);
  });
});
