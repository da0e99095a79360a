import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import {
  caBundle,
  type ExtensionServer,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';
import {
  changesBetween,
  editTopology,
  makingEdits,
  normalized,
  recordedCallsIn,
  recordedChanges,
  recordedText,
  withoutSuffixes,
} from './recorded.ts';
import { played } from './rehearsing.ts';

const calls = recordedCallsIn('main/calls');
const changes = recordedChanges('main/conditions.jsonl');
// kubectl reads the scalar `y` as true.
const objects = recordedText('main/objects.yaml').replace('x: y', 'x: true');
const cluster = recordedText('main/cluster.yaml');

/** The recorded conditions between two marks, each `STATUS REASON: MESSAGE`, without those about the class. */
const recorded = (from?: string, to?: string) =>
  changesBetween(changes, from, to)
    .filter(({ kind, type }) => kind === 'clusters' && type === 'TopologyReconciled')
    .map(({ status, reason, message = '' }) => withoutSuffixes(`${status} ${reason}: ${message}`))
    .filter(
      (text, index, all) => !text.includes('observedGeneration') && !all[index - 1]?.includes('observedGeneration'),
    );

/** Answers of a hook in the order of its calls, the last one for all others. */
type Script = Record<string, (JsonObject | ((request: JsonObject) => JsonObject) | { code: number; text: string })[]>;

const done = { status: 'Success' };
const failure = (message: string) => ({ status: 'Failure', message });
const retry = (retryAfterSeconds: number, message: string) => ({ status: 'Success', retryAfterSeconds, message });
const encoded = (patch: unknown) => Buffer.from(JSON.stringify(patch)).toString('base64');
const patching = (patch: unknown) => (request: JsonObject) => ({
  status: 'Success',
  items: [{ uid: (request.items as JsonObject[])[1]?.uid ?? '', patchType: 'JSONPatch', patch: encoded(patch) }],
});

const servers: ExtensionServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));

/** Rehearses a part of the recorded lifecycle. */
async function rehearsed(script: Script, yaml: string, options: Parameters<typeof played>[2]) {
  const requests: { hook: string; body: JsonObject }[] = [];
  const counts = new Map<string, number>();
  const server = await startExtension(({ url, body: text }, response) => {
    const body = JSON.parse(text) as JsonObject;
    const hook = String(body.kind).replace(/Request$/, '');
    const number = counts.get(hook) ?? 0;
    counts.set(hook, number + 1);
    requests.push({ hook, body });
    if (hook.startsWith('Discover') && script[hook] === undefined) {
      return calls.get(hook)?.answer;
    }
    const answers = script[hook] ?? [
      hook === 'GeneratePatches' ? patching([{ op: 'add', path: '/spec/template/spec/patched', value: 'yes' }]) : done,
    ];
    const answer = answers[Math.min(number, answers.length - 1)];
    expect(url).toContain('timeout=');
    if (typeof answer === 'function') {
      return answer(body);
    }
    if (answer !== undefined && 'code' in answer) {
      response.writeHead(Number(answer.code)).end(answer.text);
      return undefined;
    }
    return answer;
  });
  servers.push(server);
  const result = await played([extensionConfig('lab', { url: server.url, caBundle })], yaml, options);
  const conditions = result.entries.flatMap((entry) =>
    entry.type === 'event' && entry.event.kind === 'condition'
      ? [withoutSuffixes(`${entry.event.status} ${entry.event.reason}: ${entry.event.message}`)]
      : [],
  );
  return { ...result, requests, conditions };
}

/** A recorded line of `sequence.txt` as a call: `16:51:04.111 HOOK | A>B | C | W | ANSWER`. */
const recordedSequence = recordedText('main/sequence.txt')
  .trim()
  .split('\n')
  .map((line) =>
    line
      .slice(13)
      .split(' | ')
      .map((part) => part.trim()),
  );

/** Calls of lifecycle hooks as in `sequence.txt`. */
function sequenceOf({ calls: made }: Awaited<ReturnType<typeof rehearsed>>): string[][] {
  return made
    .filter(({ hook }) => /^(Before|After)/.test(hook))
    .map((entry) => {
      const versions =
        entry.kubernetesVersion ??
        (entry.fromKubernetesVersion === undefined
          ? ''
          : `${entry.fromKubernetesVersion}>${entry.toKubernetesVersion}`);
      const { status, retryAfterSeconds } = entry.call;
      return [
        entry.hook,
        versions,
        (entry.controlPlaneUpgrades ?? []).join('+'),
        (entry.workersUpgrades ?? []).join('+'),
        status === 'Failure' ? 'failure' : retryAfterSeconds > 0 ? `retry ${retryAfterSeconds}` : 'done',
      ];
    });
}

const atVersion = (version: string) =>
  cluster
    .replace('v1.28.0', version)
    .replace(
      'spec:\n',
      'spec:\n  controlPlaneRef: { apiGroup: controlplane.cluster.x-k8s.io, kind: LabControlPlane, name: c1-vvmmn }\n  infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: InfraCluster, name: c1-p94rp }\n',
    );

describe('creation with a failure, and an upgrade over two minors', () => {
  let lifecycle: Awaited<ReturnType<typeof rehearsed>>;
  beforeAll(async () => {
    lifecycle = await rehearsed(
      {
        BeforeClusterCreate: [failure('no quota yet'), retry(2, 'wait for network'), done],
        BeforeClusterUpgrade: [retry(2, 'backups run'), done],
        AfterControlPlaneUpgrade: [retry(2, 'probing'), done],
      },
      `${cluster}---\n${objects}`,
      { upgrades: ['v1.30.0'] },
    );
  });

  test('calls', () => {
    expect(lifecycle.end).toMatchObject({ isComplete: true, reason: '' });
    expect(sequenceOf(lifecycle)).toEqual(recordedSequence.slice(0, 14));
  });

  test('conditions', () => {
    expect(lifecycle.conditions).toEqual(recorded(undefined, 'hold'));
  });

  test.each(
    [...calls.keys()].filter(
      (name) => !['BeforeClusterDelete', 'GenerateUpgradePlan', 'GeneratePatches-upgrade'].includes(name),
    ),
  )('the request of %s', (name) => {
    const { body, url } = calls.get(name)!;
    const made = lifecycle.requests.filter(({ hook }) => hook === name).map((request) => normalized(request.body));
    expect(made[0]).toEqual(normalized(body));
    expect(url).toContain('/hooks.runtime.cluster.x-k8s.io/v1alpha1/');
  });

  test('the request of GeneratePatches during the upgrade', () => {
    const made = lifecycle.requests
      .filter(({ hook }) => hook === 'GeneratePatches')
      .map(({ body }) => normalized(body));
    expect(made).toContainEqual(normalized(calls.get('GeneratePatches-upgrade')?.body));
  });
});

test('held and deferred workers, until the user removes the annotations', async () => {
  const annotated = (group: string, annotation: string) =>
    `name: ${group}, metadata: { annotations: { topology.cluster.x-k8s.io/${annotation}: "" } },`;
  const yaml = atVersion('v1.30.0')
    .replace('name: md-1,', annotated('md-1', 'hold-upgrade-sequence'))
    .replace('name: mp-0,', annotated('mp-0', 'defer-upgrade'));
  const { conditions, ...lifecycle } = await rehearsed(
    {},
    `${yaml}---\n${objects.replace('v1.30.0]', 'v1.30.0, v1.30.1]')}`,
    {
      upgrades: ['v1.30.1'],
      edit: makingEdits(
        editTopology('removes the annotations', ({ workers }) => {
          const { machineDeployments, machinePools } = workers as Record<string, JsonObject[]>;
          for (const group of [...(machineDeployments ?? []), ...(machinePools ?? [])]) {
            delete group.metadata;
          }
        }),
      ),
    },
  );
  expect(conditions).toEqual(['True ReconcileSucceeded: ', ...recorded('hold', 'paused')]);
  expect(sequenceOf({ ...lifecycle, conditions })).toEqual(recordedSequence.slice(14, 20));
});

test.each([
  [
    'paused by annotation',
    (yaml: string) => yaml.replace('labels:', 'annotations: { cluster.x-k8s.io/paused: "" }, labels:'),
  ],
  ['spec.paused', (yaml: string) => yaml.replace('spec:\n', 'spec:\n  paused: true\n')],
])('%s', async (mark, paused) => {
  const { conditions } = await rehearsed({}, `${paused(atVersion('v1.30.0'))}---\n${objects}`, {});
  expect(conditions).toEqual(recorded(mark).slice(0, 1));
});

test.each<[mark: string, Script]>([
  [
    'patch of a path that is not there',
    { GeneratePatches: [patching([{ op: 'replace', path: '/spec/template/spec/missing/deep', value: 1 }])] },
  ],
  ['patches fail', { GeneratePatches: [failure('no template known')] }],
  ['topology invalid', { ValidateTopology: [failure('replicas too many')] }],
  ['answer is not JSON', { ValidateTopology: [{ code: 200, text: '<html>' }] }],
  ['HTTP 502', { ValidateTopology: [{ code: 502, text: `bad gateway ${'x'.repeat(600)}` }] }],
  [
    'handler gone from the registry',
    {
      Discovery: [
        {
          ...calls.get('Discovery')?.answer,
          handlers: (calls.get('Discovery')?.answer.handlers as JsonObject[]).filter(
            ({ name }) => name !== 'validate-topology',
          ),
        },
      ],
    },
  ],
])('%s', async (mark, script) => {
  const { conditions } = await rehearsed(script, `${atVersion('v1.30.0')}---\n${objects}`, { maxFailures: 1 });
  expect(conditions).toEqual(recorded(mark).slice(0, 1));
});

test('a class whose variables cannot be discovered', async () => {
  const { conditions, end } = await rehearsed(
    { DiscoverVariables: [failure('no schema')] },
    `${cluster}---\n${objects}`,
    {},
  );
  expect(conditions).toEqual([
    'False ReconcileFailed: ClusterClass is not successfully reconciled: status of VariablesReady condition on ClusterClass must be "True"',
  ]);
  expect(end).toMatchObject({ isComplete: false, reason: expect.stringContaining('no schema') });
});

test('before v1.14, conditions lack the messages of extensions', async () => {
  const { conditions } = await rehearsed(
    { GeneratePatches: [failure('no template known')] },
    `${atVersion('v1.30.0')}---\n${objects}`,
    { maxFailures: 1, release: { major: 1, minor: 13 } },
  );
  expect(conditions).toEqual([
    'False ReconcileFailed: error computing the desired state of the Cluster topology: failed to apply patches: failed to generate patches for patch "lab": failed to call extension handler "generate-patches.lab": got failure response, please check controller logs for errors',
  ]);
});

describe('the plan of an extension', () => {
  // A class that names versions would allow only those.
  const withPlan = `${objects.replace(/ {2}kubernetesVersions: .*\n/, '')}  upgrade: { external: { generateUpgradePlanExtension: generate-upgrade-plan.lab } }\n`;
  const steps = (...versions: string[]) => versions.map((version) => ({ version }));
  const skipping = { status: 'Success', controlPlaneUpgrades: steps('v1.32.0') };

  test('that skips a minor is cached, although it is invalid', async () => {
    const { conditions, requests, events } = await rehearsed(
      { GenerateUpgradePlan: [skipping, failure('no plan')] },
      `${atVersion('v1.30.1')}---\n${withPlan}`,
      { upgrades: ['v1.32.0'], maxFailures: 4 },
    );
    expect(conditions).toEqual(['True ReconcileSucceeded: ', ...recorded('plan that skips', 'delete')]);
    expect(requests.filter(({ hook }) => hook === 'GenerateUpgradePlan')).toHaveLength(1);
    expect(events).toContainEqual(expect.objectContaining({ kind: 'finding', severity: 'warning' }));
  });

  test('is asked again after ten minutes', async () => {
    const { end, requests } = await rehearsed(
      {
        GenerateUpgradePlan: [
          skipping,
          ({ fromControlPlaneKubernetesVersion: from }) => ({
            status: 'Success',
            controlPlaneUpgrades:
              from === 'v1.30.1' ? steps('v1.31.0', 'v1.32.0') : from === 'v1.31.0' ? steps('v1.32.0') : [],
          }),
        ],
      },
      `${atVersion('v1.30.1')}---\n${withPlan}`,
      { upgrades: ['v1.32.0'], maxFailures: 100, maxCalls: 10_000 },
    );
    expect(end).toMatchObject({ isComplete: true });
    const times = requests.filter(({ hook }) => hook === 'GenerateUpgradePlan').length;
    expect(times).toBeGreaterThan(1);
  });

  test('with a good plan, and a deletion that fails three times', async () => {
    const lifecycle = await rehearsed(
      {
        GenerateUpgradePlan: [
          ({ fromControlPlaneKubernetesVersion: from }) => ({
            status: 'Success',
            controlPlaneUpgrades:
              from === 'v1.30.1' ? steps('v1.31.0', 'v1.32.0') : from === 'v1.31.0' ? steps('v1.32.0') : [],
          }),
        ],
        BeforeClusterDelete: [
          ...Array.from({ length: 3 }, () => failure('cannot clean up')),
          retry(3, 'cleaning'),
          done,
        ],
      },
      `${atVersion('v1.30.1')}---\n${withPlan}`,
      { upgrades: ['v1.32.0'], isDeleted: true },
    );
    expect(lifecycle.end).toMatchObject({ isComplete: true, reason: '' });
    expect(lifecycle.conditions).toEqual(['True ReconcileSucceeded: ', ...recorded('delete')]);
    expect(sequenceOf(lifecycle)).toEqual(recordedSequence.slice(20));
    const { body } = calls.get('BeforeClusterDelete')!;
    const made = normalized(lifecycle.requests.find(({ hook }) => hook === 'BeforeClusterDelete')?.body);
    const { paused: _, ...spec } = (body.cluster as JsonObject).spec as JsonObject;
    const { annotations: __, ...metadata } = (body.cluster as JsonObject).metadata as JsonObject;
    const { controlPlaneEndpoint: ___, ...rest } = spec;
    expect(made).toEqual(normalized({ ...body, cluster: { ...(body.cluster as JsonObject), spec: rest, metadata } }));
  });
});
