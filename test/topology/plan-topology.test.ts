import { describe, expect, test } from 'vitest';
import { type JsonObject, objectAt, textAt } from '../../src/kubernetes/index.ts';
import { type CallHook, type HookCall, layered, type Plan, plan, World } from '../../src/topology/index.ts';
import {
  causesOf,
  controlPlanes,
  type Manifests,
  manifests,
  patch,
  planned,
  problemsOf,
  template,
  verdictsOf,
  workers,
} from './small-class.ts';

const unchanged = { 'control-plane': 'unchanged', md: 'unchanged' };
const topology = ({ cluster }: Manifests) => objectAt(cluster.spec, 'topology');
const group = (all: Manifests) =>
  (topology(all).workers as { machineDeployments: JsonObject[] }).machineDeployments[0] as JsonObject;
const classSpec = ({ clusterClass }: Manifests) => clusterClass.spec;
const workerClass = (all: Manifests) =>
  (classSpec(all).workers as { machineDeployments: JsonObject[] }).machineDeployments[0] as JsonObject;
const patchesOf = (all: Manifests): JsonObject[] => {
  const spec = classSpec(all);
  spec.patches ??= [];
  return spec.patches as JsonObject[];
};
const label = (value: string) => [{ name: 'label', value }];
/** A patch whose value is a list, as the field wants it. */
const commands = (name: string, value: string) => patch(name, 'spec/postKubeadmCommands', { value: [value] });
/** The class's own patch gives a text where a list is wanted: it goes, unless a test wants that. */
const withoutPatch = (all: Manifests) => {
  delete classSpec(all).patches;
};

describe('a change, from manifests alone', () => {
  test.each<[string, (all: Manifests) => void, Record<string, string>, string[]]>([
    ['nothing', () => {}, unchanged, []],
    [
      'a patch',
      (all) => patchesOf(all).push(commands('more', 'true')),
      { ...unchanged, md: 'replaced' },
      ['spec.template.spec.postKubeadmCommands: patch more'],
    ],
    [
      'a template with another name and the same content',
      (all) => {
        all.workerMachines.metadata.name = 'renamed';
        objectAt(workerClass(all), 'infrastructure', 'templateRef').name = 'renamed';
      },
      unchanged,
      [],
    ],
    [
      'a template with another name and other content',
      (all) => {
        Object.assign(
          all.workerMachines,
          template('infrastructure.example.com/v1', 'SmallMachineTemplate', 'other', { size: 'tiny' }),
        );
        objectAt(workerClass(all), 'infrastructure', 'templateRef').name = 'other';
      },
      { ...unchanged, md: 'replaced' },
      ['spec.template.spec.size: template SmallMachineTemplate other instead of SmallMachineTemplate small-worker'],
    ],
    [
      'a label in the class',
      (all) => {
        workerClass(all).metadata = { labels: { zone: 'a' } };
      },
      { ...unchanged, md: 'inPlace' },
      [
        'metadata.labels.zone: class metadata (class worker)',
        'spec.template.metadata.labels.zone: class metadata (class worker)',
      ],
    ],
    [
      'a failure domain',
      (all) => {
        group(all).failureDomain = 'a';
      },
      { ...unchanged, md: 'replaced' },
      ['spec.template.spec.failureDomain: md in spec.topology'],
    ],
    [
      'replicas',
      (all) => {
        group(all).replicas = 5;
      },
      { ...unchanged, md: 'scaled' },
      ['spec.replicas: md in spec.topology'],
    ],
    [
      'a version',
      (all) => {
        topology(all).version = 'v1.35.0';
      },
      { 'control-plane': 'replaced', md: 'replaced' },
      ['spec.template.spec.version: version'],
    ],
    [
      'a group that is gone, and a new one',
      (all) => {
        group(all).name = 'other';
      },
      { 'control-plane': 'unchanged', md: 'deleted', other: 'created' },
      [],
    ],
    [
      'the network of the infrastructure cluster',
      (all) => {
        all.infrastructureCluster.spec.template.spec = { network: 'b' };
      },
      unchanged,
      [],
    ],
  ])('%s', async (_, change, verdicts, causes) => {
    const plan = await planned(change, { prepare: withoutPatch });
    expect(verdictsOf(plan)).toEqual(verdicts);
    expect(causesOf(plan, 'md')).toEqual(causes);
    expect(problemsOf(plan)).toEqual([]);
  });

  test('a variable that a patch reads is named, whether it is of the Cluster, of a group, or a default', async () => {
    const prepare = (all: Manifests) => {
      classSpec(all).patches = [patch('kubelet', 'spec/format', { valueFrom: { variable: 'label' } })];
    };
    const from = ['spec.template.spec.format: patch kubelet, variable label'];
    const byCluster = (all: Manifests) => {
      topology(all).variables = label('ignition');
    };
    const byGroup = (all: Manifests) => {
      group(all).variables = { overrides: label('ignition') };
    };
    for (const change of [byCluster, byGroup]) {
      const plan = await planned(change, { prepare });
      expect(verdictsOf(plan)).toEqual({ ...unchanged, md: 'replaced' });
      expect(causesOf(plan, 'md')).toEqual(from);
    }
  });

  test("a new default changes a Cluster only if the Cluster's list of variables is applied again", async () => {
    const prepare = (all: Manifests) => {
      classSpec(all).patches = [patch('kubelet', 'spec/format', { valueFrom: { variable: 'label' } })];
    };
    const change = (all: Manifests) => {
      const [variable] = classSpec(all).variables as JsonObject[];
      objectAt(variable, 'schema', 'openAPIV3Schema').default = 'ignition';
    };
    const withoutList = (all: Manifests) => {
      prepare(all);
      delete topology(all).variables;
    };
    expect(verdictsOf(await planned(change, { prepare: withoutList }))).toEqual(unchanged);
    expect(verdictsOf(await planned(change, { prepare }))).toEqual({ ...unchanged, md: 'replaced' });
  });

  test.each<[string, string, JsonObject, string, string]>([
    [
      'a patch of another template',
      'builtin.machineDeployment.infrastructureRef.name',
      workers,
      'md',
      'the next reconcile changes its KubeadmConfigTemplate, and Machines that are made in between are replaced again',
    ],
    [
      'a patch of the control plane',
      'builtin.controlPlane.machineTemplate.infrastructureRef.name',
      controlPlanes,
      'control-plane',
      'the next reconcile changes the KubeadmControlPlane, and Machines that are made in between are replaced again',
    ],
    [
      'a patch of the same template',
      'builtin.machineDeployment.bootstrap.configRef.name',
      workers,
      'md',
      'each reconcile rotates its KubeadmConfigTemplate again, and Machines are replaced without end',
    ],
  ])('a rotated template whose name is read by %s', async (_, variable, selector, name, expected) => {
    const path = name === 'md' ? 'spec/preKubeadmCommands' : 'spec/kubeadmConfigSpec/preKubeadmCommands';
    const prepare = (all: Manifests) => {
      const valueFrom = { template: `- "{{ .${variable} }}"` };
      classSpec(all).patches = [patch('names', path, { valueFrom }, selector)];
    };
    const change = (all: Manifests) => {
      objectAt(all.workerMachines.spec, 'template', 'spec').size = 'tiny';
      objectAt(all.controlPlaneMachines.spec, 'template', 'spec').size = 'tiny';
      objectAt(all.workerConfig.spec, 'template', 'spec').format = 'ignition';
    };
    const plan = await planned(change, { prepare });
    const groups = plan.clusters[0]?.groups ?? [];
    expect(groups.find(({ group: one }) => one === name)?.manner).toContain(
      `patch names reads ${variable}, which this rotation changes: ${expected}`,
    );
    expect(groups.find(({ group: one }) => one !== name)?.manner?.join()).not.toMatch(/reads builtin/);
    const other = await planned((all) => void Object.assign(group(all), { replicas: 3 }), { prepare });
    expect(JSON.stringify(other)).not.toContain('which this rotation changes');
  });

  test('patched labels of a template replace Machines from Cluster API 1.14 on', async () => {
    const change = (all: Manifests) => {
      patchesOf(all).push(patch('meta', 'metadata', { value: { labels: { a: 'b' } } }));
    };
    const at = (minor: number) => planned(change, { prepare: withoutPatch, clusterApiVersion: { major: 1, minor } });
    expect(verdictsOf(await at(13))).toEqual(unchanged);
    expect(verdictsOf(await at(14))).toEqual({ ...unchanged, md: 'replaced' });
  });

  test('a Cluster that is new is created', async () => {
    const plan = await planned(
      (all) => {
        all.cluster.metadata.name = 'two';
      },
      { prepare: withoutPatch },
    );
    expect(plan.clusters.map(({ cluster, groups }) => [cluster, groups.map(({ verdict }) => verdict)])).toEqual([
      ['default/one', ['unchanged', 'unchanged']],
      ['default/two', ['created', 'created']],
    ]);
  });
});

describe('a class that changes its variables, with a Cluster that is not applied again', () => {
  const withClassOnly = async (change: (all: Manifests) => void): Promise<Plan> => {
    const before = manifests();
    withoutPatch(before);
    topology(before).variables = label('ignition');
    const after = structuredClone(before);
    change(after);
    const from = Object.values(before) as unknown as JsonObject[];
    const wanted = new World(layered(from, [after.clusterClass]));
    return plan(new World(from), wanted, { now: new Date('2026-11-26T00:00:00Z') });
  };

  test('a new variable has its default', async () => {
    const result = await withClassOnly((all) => {
      const schema = { openAPIV3Schema: { type: 'string', default: 'ignition' } };
      (classSpec(all).variables as JsonObject[]).push({ name: 'command', required: false, schema });
      patchesOf(all).push(patch('new', 'spec/format', { valueFrom: { variable: 'command' } }));
    });
    expect(verdictsOf(result)).toEqual({ ...unchanged, md: 'replaced' });
    expect(causesOf(result, 'md')).toEqual(['spec.template.spec.format: patch new, variable command']);
  });

  test('a variable that is set and not defined any more stops the Cluster', async () => {
    const result = await withClassOnly((all) => {
      delete classSpec(all).variables;
    });
    expect(verdictsOf(result)).toEqual({ 'control-plane': 'stopped', md: 'stopped' });
    expect(problemsOf(result)).toEqual([
      'Cluster.cluster.x-k8s.io "one" is invalid: spec.topology.variables[label]: Invalid value: "\\"ignition\\"": variable is not defined',
    ]);
  });
});

describe('upgrades', () => {
  const upgrade = (all: Manifests) => {
    topology(all).version = 'v1.36.0';
  };

  test('over two minors are refused, unless the class names the versions: then Machines are replaced twice', async () => {
    const refused = await planned(upgrade, { prepare: withoutPatch });
    expect(verdictsOf(refused)).toEqual({ 'control-plane': 'refused', md: 'refused' });
    expect(problemsOf(refused)).toEqual([
      'Cluster API refuses Cluster default/one: spec.topology.version: Invalid value: "v1.36.0": version cannot be increased from "1.34.0" to "1.36.0"',
    ]);
    const prepare = (all: Manifests) => {
      withoutPatch(all);
      classSpec(all).kubernetesVersions = ['v1.34.0', 'v1.35.2', 'v1.36.0'];
    };
    const plan = await planned(upgrade, { prepare });
    expect(verdictsOf(plan)).toEqual({ 'control-plane': 'replaced', md: 'replaced' });
    const [controlPlane] = plan.clusters[0]?.groups ?? [];
    expect(controlPlane?.manner?.join(' ')).toContain('replaced twice: v1.34.0 → v1.35.2 → v1.36.0');

    // The API server is asked about the first step: its webhook refuses two minors at once.
    const sent: string[] = [];
    const dryRun: World['dryRun'] = async (object) => {
      if (object.kind === 'KubeadmControlPlane') {
        sent.push(textAt(object, 'spec', 'version'));
      }
      return { is: 'stored', object };
    };
    expect(await planned(upgrade, { prepare, dryRun })).toEqual(plan);
    expect(sent).toEqual(['v1.35.2']);
  });

  test('that are deferred leave a group as it is', async () => {
    const plan = await planned(
      (all) => {
        topology(all).version = 'v1.35.0';
        group(all).metadata = { annotations: { 'topology.cluster.x-k8s.io/defer-upgrade': '' } };
        group(all).failureDomain = 'b';
      },
      { prepare: withoutPatch },
    );
    expect(verdictsOf(plan)).toEqual({ 'control-plane': 'replaced', md: 'unchanged' });
    expect(plan.clusters[0]?.groups[1]?.manner).toEqual([
      'waits: its upgrade to v1.35.0 is deferred by an annotation, and until then nothing of it changes',
    ]);
  });
});

describe('what Cluster API refuses', () => {
  test.each<[string, (all: Manifests) => void, string, Record<string, string>?]>([
    [
      'a variable that does not match',
      (all) => {
        topology(all).variables = [{ name: 'label', value: 1 }];
      },
      'Cluster API refuses Cluster default/one: spec.topology.variables[label].value: Invalid value: "1": must be of type string: "integer"',
    ],
    [
      'a control plane template with other content',
      (all) => {
        all.controlPlane.spec.template.spec = { kubeadmConfigSpec: { format: 'ignition' } };
      },
      'Cluster API refuses KubeadmControlPlaneTemplate default/small: spec.template.spec: Invalid value: KubeadmControlPlaneTemplate spec.template.spec field is immutable. Please create new resource instead.',
      { 'control-plane': 'refused', md: 'unchanged' },
    ],
    [
      'a class with another kind of infrastructure',
      (all) => {
        objectAt(workerClass(all), 'infrastructure', 'templateRef').kind = 'OtherMachineTemplate';
      },
      'Cluster API refuses ClusterClass default/small: spec.workers.machineDeployments[0].infrastructure.templateRef.kind: Forbidden: kind cannot be changed from "SmallMachineTemplate" to "OtherMachineTemplate" to prevent incompatible changes in the Clusters',
    ],
    [
      'a class without a class of workers that is in use',
      (all) => {
        workerClass(all).class = 'other';
      },
      'Cluster API refuses ClusterClass default/small: spec.workers.machineDeployments: Forbidden: MachineDeploymentClass "worker" cannot be deleted because it is used by Cluster "one"',
    ],
    [
      'a lower version',
      (all) => {
        topology(all).version = 'v1.33.0';
      },
      'Cluster API refuses Cluster default/one: spec.topology.version: Invalid value: "v1.33.0": version cannot be decreased from "1.34.0" to "1.33.0"',
    ],
  ])('%s', async (_, change, problem, verdicts = { 'control-plane': 'refused', md: 'refused' }) => {
    const plan = await planned(change, { prepare: withoutPatch });
    expect(problemsOf(plan)).toEqual([problem]);
    expect(verdictsOf(plan)).toEqual(verdicts);
  });

  test('a Cluster that loses its topology', async () => {
    const before = Object.values(manifests()) as JsonObject[];
    const after = before.map((object) => (object.kind === 'Cluster' ? { ...object, spec: { paused: false } } : object));
    const refused = await plan(new World(before), new World(after), { now: new Date() });
    expect(problemsOf(refused)).toEqual([
      'Cluster API refuses Cluster default/one: spec: Forbidden: one of spec.controlPlaneRef, spec.infrastructureRef or spec.topology must be set; spec.topology: Forbidden: cannot be removed from an existing Cluster',
    ]);
    expect(verdictsOf(refused)).toEqual({ 'control-plane': 'refused', md: 'refused' });
  });

  test('a patch that does not apply stops the Cluster: nothing reaches a Machine', async () => {
    const plan = await planned((all) => patchesOf(all).push(patch('deep', 'spec/none/deep', { value: 1 })), {
      prepare: withoutPatch,
    });
    expect(verdictsOf(plan)).toEqual({ 'control-plane': 'stopped', md: 'stopped' });
    expect(problemsOf(plan)).toEqual([
      'error computing the desired state of the Cluster topology: failed to apply patches: failed to apply patches for patch "deep": failed to apply patch: error applying json patch (RFC6902): add operation does not apply: doc is missing path: "/spec/template/spec/none/deep": missing value',
    ]);
  });

  test('a patch of a field that a provider may fill in is not known, unless an API server has stored the template', async () => {
    const machines = { apiVersion: 'infrastructure.example.com/v1', kind: 'SmallMachineTemplate' };
    const of = { ...machines, matchResources: { machineDeploymentClass: { names: ['worker'] } } };
    const change = (all: Manifests) => patchesOf(all).push(patch('deep', 'spec/root/size', { value: 1 }, of));
    const unknown = await planned(change, { prepare: withoutPatch });
    expect(verdictsOf(unknown)).toEqual({ 'control-plane': 'unknown', md: 'unknown' });
    expect(problemsOf(unknown).join()).toMatch(
      /^whether patch "deep" applies is not known, since SmallMachineTemplate /,
    );
    const stored = (all: Manifests) => {
      withoutPatch(all);
      objectAt(all.workerMachines, 'metadata').uid = '1';
    };
    expect(verdictsOf(await planned(change, { prepare: stored }))).toEqual({
      'control-plane': 'stopped',
      md: 'stopped',
    });
  });

  test('a value of the wrong type stops workers, after the control plane has been written', async () => {
    const plan = await planned(
      (all) => {
        patchesOf(all).push(
          patch('text', 'spec/preKubeadmCommands', { value: 'echo' }),
          patch('cp', 'spec/kubeadmConfigSpec/format', { value: 'ignition' }, controlPlanes),
        );
      },
      { prepare: withoutPatch },
    );
    expect(verdictsOf(plan)).toEqual({ 'control-plane': 'replaced', md: 'stopped' });
    expect(problemsOf(plan).join()).toMatch(
      /\.spec\.template\.spec\.preKubeadmCommands: expected list, got &\{echo\}$/,
    );
  });
});

describe('health checks', () => {
  const ofClass = (all: Manifests, seconds: number) => {
    workerClass(all).healthCheck = { checks: { nodeStartupTimeoutSeconds: seconds } };
  };
  const prepare = (all: Manifests) => {
    withoutPatch(all);
    ofClass(all, 300);
  };
  const shown = (changed: Plan) =>
    changed.clusters[0]?.groups.map(({ verdict, healthCheck = [] }) => [
      verdict,
      ...healthCheck.map(({ object, field, before, after }) => [object, field, before, after]),
    ]);

  test.each<[string, (all: Manifests) => void, unknown[][]]>([
    ['nothing', () => {}, []],
    ['of the class', (all) => ofClass(all, 60), [['spec.checks.nodeStartupTimeoutSeconds', 300, 60]]],
    [
      'of the topology, which takes the place of all that the class says',
      (all) => {
        const unhealthyMachineConditions = [{ type: 'NodeHealthy', status: 'False', timeoutSeconds: 60 }];
        group(all).healthCheck = { checks: { unhealthyMachineConditions } };
      },
      [
        ['spec.checks.nodeStartupTimeoutSeconds', 300, 600],
        [
          'spec.checks.unhealthyMachineConditions',
          undefined,
          [{ type: 'NodeHealthy', status: 'False', timeoutSeconds: 60 }],
        ],
      ],
    ],
    [
      'that is turned off',
      (all) => {
        group(all).healthCheck = { enabled: false };
      },
      [['spec', { checks: { nodeStartupTimeoutSeconds: 300 } }, undefined]],
    ],
  ])('%s', async (_, change, expected) => {
    const changed = await planned(change, { prepare });
    const name = expectedName(changed);
    expect(shown(changed)).toEqual([
      ['unchanged'],
      ['unchanged', ...expected.map((one) => [`MachineHealthCheck default/${name}`, ...one])],
    ]);
  });

  const expectedName = (changed: Plan) => changed.clusters[0]?.groups[1]?.name;

  test('that users write, of the Machines that it selects', async () => {
    const check = (maxUnhealthy: number) => (all: Manifests) => {
      Object.assign(all, {
        healthCheck: {
          apiVersion: 'cluster.x-k8s.io/v1beta1',
          kind: 'MachineHealthCheck',
          metadata: { name: 'own', namespace: 'default' },
          spec: {
            clusterName: 'one',
            maxUnhealthy,
            selector: { matchLabels: { 'cluster.x-k8s.io/control-plane': '' } },
            unhealthyConditions: [{ type: 'Ready', status: 'False', timeout: '5m' }],
          },
        },
      });
    };
    const changed = await planned(check(2), { prepare: check(1) });
    expect(shown(changed)).toEqual([
      ['unchanged', ['MachineHealthCheck default/own', 'spec.remediation.triggerIf.unhealthyLessThanOrEqualTo', 1, 2]],
      ['unchanged'],
    ]);
    expect(changed.clusters[0]?.groups[0]?.manner).toEqual([
      'the health check has Machines remediated that are unhealthy by it; the status of Machines is not known',
    ]);
  });

  test('of the control plane', async () => {
    const changed = await planned(
      (all) => {
        objectAt(classSpec(all), 'controlPlane').healthCheck = {
          remediation: { triggerIf: { unhealthyInRange: '[1-2]' } },
        };
      },
      { prepare: withoutPatch },
    );
    expect(changed.clusters[0]?.groups[0]).toMatchObject({
      verdict: 'unchanged',
      healthCheck: [{ field: 'spec', after: { remediation: { triggerIf: { unhealthyInRange: '[1-2]' } } } }],
    });
  });
});

describe('what is not known is never unchanged', () => {
  const unknown = { 'control-plane': 'unknown', md: 'unknown' };

  test.each([
    ['takes too much work', '{{ range 1000000 }}{{ end }}', 'the template takes more than 100000 steps'],
    [
      'differs each time',
      '{{ (genCA "a" 1).Cert }}',
      'genCA, which makes a key, a certificate or a hash that differs each time',
    ],
  ])('a template that %s', async (_, text, why) => {
    const plan = await planned((all) =>
      patchesOf(all).push(patch('odd', 'spec/format', { valueFrom: { template: text } })),
    );
    expect(verdictsOf(plan)).toEqual(unknown);
    expect(problemsOf(plan).join()).toMatch(/^patches of ClusterClass default\/small are not known: patch "odd": /);
    expect(problemsOf(plan).join()).toContain(why);
  });

  const external = (all: Manifests) => {
    classSpec(all).patches = [{ name: 'outside', external: { generatePatchesExtension: 'generate.outside' } }];
  };

  test('a patch by an extension that is not called', async () => {
    const plan = await planned(external, { prepare: withoutPatch });
    expect(verdictsOf(plan)).toEqual(unknown);
    expect(plan.clusters[0]?.problems).toEqual([
      {
        text: 'patch outside of ClusterClass default/small is not known: generate.outside is not called here',
        remedy: 'pass the ExtensionConfig that registers it',
      },
    ]);
  });

  const withOutside = (all: Manifests) => {
    classSpec(all).patches = [
      patch('kubelet', 'spec/format', { valueFrom: { variable: 'label' } }),
      { name: 'outside', external: { generatePatchesExtension: 'generate.outside' } },
    ];
  };

  test('what is certain without the extension is said: which Machines are replaced at least, and why', async () => {
    const change = (all: Manifests) => {
      topology(all).variables = label('ignition');
    };
    const plan = await planned(change, { prepare: withOutside });
    expect(verdictsOf(plan)).toEqual(unknown);
    const [controlPlane, md] = plan.clusters[0]?.groups ?? [];
    expect(md).toMatchObject({ atLeast: 2, machines: { before: 2, after: 2, replaced: 0 } });
    expect(causesOf(plan, 'md')).toEqual(['spec.template.spec.format: patch kubelet, variable label']);
    expect(controlPlane).toMatchObject({ causes: [] });
    expect(controlPlane).not.toHaveProperty('atLeast');
    expect(plan.sum).toMatchObject({ replaced: 0, unknown: 5 });
    expect(problemsOf(plan)).toEqual([
      'patch outside of ClusterClass default/small is not known: generate.outside is not called here',
    ]);
  });

  test('with objects that exist, what the extension patched is no difference', async () => {
    const answer =
      (files: string): CallHook =>
      async ({ request, hook }) => ({
        is: 'answered',
        handler: 'generate.outside',
        response:
          hook === 'GeneratePatches'
            ? {
                items: (request.items as JsonObject[])
                  .filter(({ object }) => objectAt(object).kind === 'KubeadmConfigTemplate')
                  .map(({ uid = '' }) => ({
                    uid,
                    patchType: 'JSONPatch',
                    patch: Buffer.from(
                      JSON.stringify([{ op: 'add', path: '/spec/template/spec/preKubeadmCommands', value: [files] }]),
                    ).toString('base64'),
                  })),
              }
            : {},
      });
    const made: JsonObject[] = [];
    const newCluster = (all: Manifests) => {
      withOutside(all);
      all.cluster.metadata.name = 'two';
    };
    await planned(newCluster, {
      prepare: withOutside,
      call: answer('made'),
      onObjects: (name, objects) => {
        if (name === 'default/two') {
          made.push(...objects.flatMap(({ after }) => (after === undefined ? [] : [after])));
        }
      },
    });
    const all = manifests();
    newCluster(all);
    const from = [...(Object.values(all) as unknown as JsonObject[]), ...made];
    const after = structuredClone(all);
    topology(after).version = 'v1.35.0';
    const unchangedPlan = await plan(new World(from), new World(from), { now: new Date() });
    expect(causesOf(unchangedPlan, 'md')).toEqual([]);
    const upgraded = await plan(new World(from), new World(layered(from, [after.cluster])), { now: new Date() });
    expect(verdictsOf(upgraded)).toEqual(unknown);
    expect(causesOf(upgraded, 'md')).toEqual(['spec.template.spec.version: version']);
    expect(upgraded.clusters[0]?.groups.map(({ atLeast }) => atLeast)).toEqual([3, 2]);
  });

  test('an inline patch that an extension takes over may change nothing', async () => {
    const change = (all: Manifests) => {
      patchesOf(all).splice(0, 1);
      patchesOf(all).unshift({ name: 'other', external: { generatePatchesExtension: 'generate.other' } });
    };
    const plan = await planned(change, { prepare: withOutside });
    expect(verdictsOf(plan)).toEqual(unknown);
    expect(plan.clusters[0]?.groups.map(({ atLeast, causes }) => [atLeast, causes.length])).toEqual([
      [undefined, 0],
      [undefined, 0],
    ]);
  });

  test('a class that refers to a missing template, and one that is missing', async () => {
    const template = await planned(
      (all) => {
        objectAt(workerClass(all), 'bootstrap', 'templateRef').name = 'gone';
      },
      { prepare: withoutPatch },
    );
    expect(verdictsOf(template)).toEqual(unknown);
    expect(template.clusters[0]?.problems).toEqual([
      {
        text: 'ClusterClass default/small refers to KubeadmConfigTemplate default/gone, which is not among the objects',
        remedy: 'add the template, or correct the reference',
        object: 'ClusterClass default/small',
      },
    ]);
    const noClass = await planned(
      (all) => {
        objectAt(topology(all), 'classRef').name = 'gone';
      },
      { prepare: withoutPatch },
    );
    expect(verdictsOf(noClass)).toEqual(unknown);
    expect(noClass.clusters[0]?.problems).toEqual([
      {
        text: 'ClusterClass default/gone is not among the objects',
        remedy: 'add it, or correct classRef of the Cluster',
        object: 'Cluster default/one',
      },
    ]);
  });

  test.each<[string, JsonObject, string]>([
    [
      'invalid',
      { type: 'strange' },
      'discover.variables[zone].schema.openAPIV3Schema.type: Unsupported value: "strange": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
    [
      'another one than that of the class',
      { type: 'integer' },
      'the following variables have conflicting schemas: zone (zone differs in inline and discover)',
    ],
  ])('an extension whose definition of a variable is %s stops its class', async (_, openAPIV3Schema, why) => {
    const plan = await planned(
      (all) => {
        const external = { generatePatchesExtension: 'generate.lab', discoverVariablesExtension: 'discover.lab' };
        classSpec(all).patches = [{ name: 'discover', external }];
        (classSpec(all).variables as JsonObject[]).push({
          name: 'zone',
          required: false,
          schema: { openAPIV3Schema: { type: 'string' } },
        });
      },
      {
        prepare: withoutPatch,
        call: async ({ handler }) => ({
          is: 'answered',
          handler,
          response: { variables: [{ name: 'zone', required: false, schema: { openAPIV3Schema } }] },
        }),
      },
    );
    expect(verdictsOf(plan)).toEqual({ 'control-plane': 'stopped', md: 'stopped' });
    expect(problemsOf(plan)).toEqual([
      `VariablesReady of ClusterClass default/small is False, and no Cluster of it reconciles: VariableDiscovery failed: ${why}`,
    ]);
  });

  test('an extension that plans the steps of an upgrade gets the Cluster without what Cluster API leaves out', async () => {
    const calls: HookCall[] = [];
    await planned(
      (all) => {
        topology(all).version = 'v1.36.0';
      },
      {
        prepare(all) {
          withoutPatch(all);
          classSpec(all).upgrade = { external: { generateUpgradePlanExtension: 'steps.lab' } };
          all.cluster.metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
          all.cluster.metadata.managedFields = [];
          Object.assign(all.cluster, { status: { phase: 'Provisioned' } });
        },
        call: async (call) => {
          calls.push(call);
          const controlPlaneUpgrades = [{ version: 'v1.35.0' }, { version: 'v1.36.0' }];
          return { is: 'answered', handler: call.handler, response: { controlPlaneUpgrades } };
        },
      },
    );
    expect(calls.map(({ request }) => request)).toMatchObject([
      {
        fromControlPlaneKubernetesVersion: 'v1.34.0',
        toKubernetesVersion: 'v1.36.0',
        cluster: { metadata: { name: 'one' } },
      },
    ]);
    expect(Object.keys(objectAt(calls[0]?.request, 'cluster')).sort()).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'spec',
    ]);
    expect(objectAt(calls[0]?.request, 'cluster', 'metadata')).toEqual({ name: 'one', namespace: 'default' });
  });

  test('an extension is asked in the state that its patch lies in, and its handler is named', async () => {
    const calls: HookCall[] = [];
    const plan = await planned(external, {
      prepare: withoutPatch,
      call: async (call) => {
        calls.push(call);
        const [item] = (call.request.items as JsonObject[]).filter(
          ({ holderReference }) => objectAt(holderReference).fieldPath === 'spec.template.spec.bootstrap.configRef',
        );
        const operations = [{ op: 'add', path: '/spec/template/spec/format', value: 'ignition' }];
        const encoded = Buffer.from(JSON.stringify(operations)).toString('base64');
        return {
          is: 'answered',
          handler: call.handler,
          response: { items: [{ uid: item?.uid ?? '', patchType: 'JSONPatch', patch: encoded }] },
        };
      },
    });
    expect(calls.map(({ state, hook, handler }) => [state, hook, handler])).toEqual([
      ['after', 'GeneratePatches', 'generate.outside'],
    ]);
    expect(verdictsOf(plan)).toEqual({ ...unchanged, md: 'replaced' });
    expect(causesOf(plan, 'md')).toEqual(['spec.template.spec.format: patch outside, extension generate.outside']);
  });
});

test('a paused Cluster: nothing happens, and it is said what would', async () => {
  const plan = await planned(
    (all) => {
      all.cluster.spec.paused = true;
      group(all).failureDomain = 'a';
    },
    { prepare: withoutPatch },
  );
  expect(verdictsOf(plan)).toEqual(unchanged);
  expect(problemsOf(plan)).toEqual(['Cluster default/one is paused: nothing happens before it is resumed']);
  const [controlPlane, md] = plan.clusters[0]?.groups ?? [];
  expect(controlPlane).not.toHaveProperty('held');
  expect(md).toMatchObject({
    machines: { before: 2, after: 2, replaced: 0 },
    held: { is: 'paused', verdict: 'replaced', machines: { replaced: 2 } },
    causes: [{ field: 'spec.template.spec.failureDomain' }],
  });
  expect(plan.sum).toMatchObject({ replaced: 0, machines: 5 });
});

test('MachinePools: their provider decides', async () => {
  const prepare = (all: Manifests) => {
    withoutPatch(all);
    const { class: _class, ...templates } = workerClass(all);
    classSpec(all).workers = { machinePools: [{ class: 'pool', ...templates }] };
    topology(all).workers = { machinePools: [{ class: 'pool', name: 'mp', replicas: 2 }] };
  };
  const pools = { ...workers, matchResources: { machinePoolClass: { names: ['pool'] } } };
  const more = patch('more', 'spec/postKubeadmCommands', { value: ['true'] }, pools);
  const plan = await planned((all) => patchesOf(all).push(more), { prepare });
  expect(verdictsOf(plan)).toEqual({ 'control-plane': 'unchanged', mp: 'unknown' });
  expect(causesOf(plan, 'mp')).toEqual(['spec.postKubeadmCommands: patch more']);
});

describe('with objects that exist', () => {
  /** The objects that Cluster API makes of the small class. */
  async function made(prepare: (all: Manifests) => void): Promise<JsonObject[]> {
    const objects: JsonObject[] = [];
    await planned(
      (all) => {
        all.cluster.metadata.name = 'two';
      },
      {
        prepare,
        onObjects: (cluster, pairs) =>
          objects.push(
            ...(cluster === 'default/two'
              ? pairs.map(({ after }) => after).filter((after) => after !== undefined)
              : []),
          ),
      },
    );
    return objects;
  }

  /** The plan of a change of the Cluster whose objects exist. */
  async function plannedWith(
    edit: (objects: JsonObject[]) => void,
    change: (all: Manifests) => void,
    prepare = withoutPatch,
  ): Promise<Plan> {
    const objects = await made(prepare);
    edit(objects);
    const before = manifests();
    prepare(before);
    before.cluster.metadata.name = 'two';
    const [controlPlane] = objects.filter(({ kind }) => kind === 'KubeadmControlPlane');
    before.cluster.spec.controlPlaneRef = {
      apiGroup: 'controlplane.cluster.x-k8s.io',
      kind: 'KubeadmControlPlane',
      name: objectAt(controlPlane, 'metadata').name ?? '',
    };
    const after = structuredClone(before);
    change(after);
    const from = [...(Object.values(before) as unknown as JsonObject[]), ...objects];
    const wanted = new World(layered(from, Object.values(after) as unknown as JsonObject[]));
    return plan(new World(from), wanted, { now: new Date('2026-11-26T00:00:00Z') });
  }
  const templateSpec = (objects: JsonObject[], kind: string) =>
    objectAt(
      objects.find((object) => object.kind === kind),
      'spec',
      'template',
      'spec',
    );

  test('nothing changes when nothing does', async () => {
    expect(
      verdictsOf(
        await plannedWith(
          () => {},
          () => {},
        ),
      ),
    ).toEqual(unchanged);
  });

  test('a field that the class does not have any more is removed; one that somebody else set stays', async () => {
    const prepare = (all: Manifests) => {
      classSpec(all).patches = [commands('more', 'true')];
    };
    const edit = (objects: JsonObject[]) => {
      templateSpec(objects, 'KubeadmConfigTemplate').verbosity = 5;
    };
    expect(verdictsOf(await plannedWith(edit, () => {}, prepare))).toEqual(unchanged);
    const removed = await plannedWith(edit, withoutPatch, prepare);
    expect(verdictsOf(removed)).toEqual({ ...unchanged, md: 'replaced' });
    expect(causesOf(removed, 'md')).toContain('spec.template.spec.postKubeadmCommands: patch more');
  });

  test('defaults that kubeadm configs once had are no difference', async () => {
    const edit = (objects: JsonObject[]) => {
      templateSpec(objects, 'KubeadmConfigTemplate').format = 'cloud-config';
    };
    const change = (all: Manifests) => {
      patchesOf(all).push(patch('format', 'spec/format', { value: 'cloud-config' }));
    };
    expect(verdictsOf(await plannedWith(edit, change))).toEqual(unchanged);
    expect(verdictsOf(await plannedWith(() => {}, change))).toEqual(unchanged);
  });

  test('another version is refused while workers have not the last one yet', async () => {
    const edit = (objects: JsonObject[]) => {
      const worker = objects.find(({ kind }) => kind === 'MachineDeployment');
      objectAt(worker, 'spec', 'template', 'spec').version = 'v1.33.0';
    };
    const plan = await plannedWith(edit, (all) => {
      topology(all).version = 'v1.35.0';
    });
    expect(problemsOf(plan).join()).toMatch(
      /: version cannot be changed: there are still MachineDeployments completing a previous upgrade: \[two-md-\w+\]$/,
    );
    // The upgrade that is under way goes on.
    expect(verdictsOf(plan)).toEqual({ 'control-plane': 'refused', md: 'replaced' });
  });

  test('a template of another version of the API than the class refers to is not known', async () => {
    const edit = (objects: JsonObject[]) => {
      for (const object of objects.filter(({ kind }) => kind === 'SmallMachineTemplate')) {
        object.apiVersion = 'infrastructure.example.com/v2';
      }
    };
    const plan = await plannedWith(edit, () => {});
    expect(verdictsOf(plan)).toEqual({ 'control-plane': 'unknown', md: 'unknown' });
    expect(plan.clusters[0]?.groups[1]?.problems?.[0]?.text).toMatch(
      /^SmallMachineTemplate default\/two-md-\w+ is given in infrastructure\.example\.com\/v2, and the class has infrastructure\.example\.com\/v1$/,
    );
  });
});

test("defaults of a provider's CRD are filled in on both sides", async () => {
  const crd: JsonObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'smallmachinetemplates.infrastructure.example.com' },
    spec: {
      group: 'infrastructure.example.com',
      names: { kind: 'SmallMachineTemplate' },
      versions: [
        {
          name: 'v1',
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    template: {
                      type: 'object',
                      properties: {
                        spec: {
                          type: 'object',
                          properties: { size: { type: 'string' }, disk: { type: 'integer', default: 10 } },
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      ],
    },
  };
  const change = (all: Manifests) => {
    Object.assign(objectAt(all.workerMachines, 'spec', 'template', 'spec'), { disk: 10 });
  };
  const withCrd = (all: Manifests) => {
    withoutPatch(all);
    Object.assign(all, { crd });
  };
  expect(verdictsOf(await planned(change, { prepare: withCrd }))).toEqual(unchanged);
  expect(verdictsOf(await planned(change, { prepare: withoutPatch }))).toEqual({ ...unchanged, md: 'replaced' });
});

test('a class in v1beta1 is planned as one in v1beta2', async () => {
  const older = (object: JsonObject) =>
    Object.assign(object, { apiVersion: String(object.apiVersion).replace('v1beta2', 'v1beta1') });
  const prepare = (all: Manifests) => {
    withoutPatch(all);
    for (const [name, template] of [
      ['controlPlane', all.controlPlane],
      ['workerConfig', all.workerConfig],
    ] as const) {
      older(template as unknown as JsonObject);
      const holder = name === 'controlPlane' ? classSpec(all) : workerClass(all);
      older(objectAt(holder, name === 'controlPlane' ? 'controlPlane' : 'bootstrap', 'templateRef'));
    }
    all.workerConfig.spec.template.spec = { joinConfiguration: { nodeRegistration: { kubeletExtraArgs: { v: '1' } } } };
  };
  const change = (all: Manifests) => {
    const selector = { ...workers, apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta1' };
    patchesOf(all).push(
      patch('args', 'spec/joinConfiguration/nodeRegistration/kubeletExtraArgs/x', { value: 'y' }, selector),
    );
  };
  const plan = await planned(change, { prepare });
  expect(verdictsOf(plan)).toEqual({ ...unchanged, md: 'replaced' });
  expect(causesOf(plan, 'md')).toEqual([
    'spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs: patch args',
  ]);
});

describe('the contract of a control plane, which says where it has the timeouts of its Machines', () => {
  const group = 'controlplane.cluster.x-k8s.io';
  const old = 'spec.machineTemplate.nodeDrainTimeout';
  const newer = 'spec.machineTemplate.spec.deletion';
  test.each<[what: string, kind: string, version: string, labels: JsonObject | undefined, field: string]>([
    ['v1beta1 by its name', 'AzureManagedControlPlane', 'v1beta1', undefined, old],
    ['v1beta2 by its name', 'KamajiControlPlane', 'v1beta2', undefined, newer],
    ['of kubeadm, as it is converted', 'KubeadmControlPlane', 'v1beta1', undefined, newer],
    ['of k3s, v1beta1', 'KThreesControlPlane', 'v1beta2', undefined, old],
    ['of k3s, as its definition is labelled', 'KThreesControlPlane', 'v1beta2', { v1beta2: 'v1beta1_v1beta2' }, newer],
    ['of another version, as labelled', 'KamajiControlPlane', 'v1', { v1beta1: 'v1alpha1_v1' }, old],
    ['of a definition without labels, as the provider has it', 'KThreesControlPlane', 'v1beta2', {}, old],
  ])('%s', async (_, kind, version, labels, field) => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${kind.toLowerCase()}s.${group}`,
        labels: Object.fromEntries(
          Object.entries(labels ?? {}).map(([name, versions]) => [`cluster.x-k8s.io/${name}`, versions]),
        ),
      },
      spec: { group, names: { kind }, versions: [] },
    };
    const prepare = (all: Manifests) => {
      withoutPatch(all);
      const apiVersion = `${group}/${version}`;
      Object.assign(all.controlPlane, { apiVersion, kind: `${kind}Template` });
      const reference = objectAt(classSpec(all), 'controlPlane', 'templateRef');
      Object.assign(reference, { apiVersion, kind: `${kind}Template` });
      Object.assign(all, labels && { definition });
    };
    const change = (all: Manifests) => {
      objectAt(topology(all), 'controlPlane').deletion = { nodeDrainTimeoutSeconds: 60 };
    };
    expect(causesOf(await planned(change, { prepare }), 'control-plane')).toEqual([
      `${field}: spec.topology.controlPlane`,
    ]);
  });
});
