import { aroundEach, describe, expect, test } from 'vitest';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { startSample } from '../../extension/sample/running.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { ending, endWith } from '../../support/ends.ts';
import { expectLinear } from '../../support/work.ts';
import { played } from './rehearsing.ts';
import { clusterYaml, templatedClass } from './simulating.ts';

aroundEach(ending);

/** The sample extension with the given behaviour, and an ExtensionConfig for it. */
async function sample(behaviour?: string) {
  const { port } = await startSample(behaviour);
  return extensionConfig('sample', { url: `https://localhost:${port}`, caBundle });
}

const whole = { upgrades: ['v1.33.0'], isDeleted: true };

// Concurrent: some wait for timeouts.
describe.concurrent('the sample extension', () => {
  test('that agrees to everything: the simulation is completed', async ({ expect }) => {
    const { calls, events, end, complete } = await played([await sample()], '', whole);
    expect(end).toMatchObject({ isComplete: true, cluster: 'default/sample' });
    expect(events.filter(({ kind }) => kind === 'finding')).toEqual([]);
    expect(complete).toBe(1);
    expect(calls.map(({ hook }) => hook)).toEqual([
      'Discovery',
      'Discovery',
      'BeforeClusterCreate',
      'AfterControlPlaneInitialized',
      'BeforeClusterUpgrade',
      'BeforeControlPlaneUpgrade',
      'AfterControlPlaneUpgrade',
      'BeforeControlPlaneUpgrade',
      'AfterControlPlaneUpgrade',
      'BeforeWorkersUpgrade',
      'AfterWorkersUpgrade',
      'AfterClusterUpgrade',
      'BeforeClusterDelete',
    ]);
    expect(calls[4]).toMatchObject({
      call: { handler: 'before-cluster-upgrade.sample', status: 'Success' },
      fromKubernetesVersion: 'v1.31.0',
      toKubernetesVersion: 'v1.33.0',
      controlPlaneUpgrades: ['v1.32.0', 'v1.33.0'],
      workersUpgrades: ['v1.33.0'],
    });
  });

  test.for<[string, string, string[]]>([
    [
      'that blocks for a while',
      '{ block: { times: 3, retryAfterSeconds: 3600, message: backups run } }',
      ['blocked', 'blocked', 'blocked', 'passed'],
    ],
    ['that fails for a while', '{ fail: { times: 2, message: no quota } }', ['failed', 'failed', 'passed']],
    ['that is slow', '{ delaySeconds: 0.2 }', ['passed']],
  ])('%s', async ([, behaviour, expected], { expect }) => {
    const { calls, end } = await played(
      [await sample(`handlers: { before-cluster-upgrade: ${behaviour} }`)],
      '',
      whole,
    );
    expect(end).toMatchObject({ isComplete: true });
    const verdicts = calls
      .filter(({ hook }) => hook === 'BeforeClusterUpgrade')
      .map(({ call }) => (call.status !== 'Success' ? 'failed' : call.retryAfterSeconds > 0 ? 'blocked' : 'passed'));
    expect(verdicts).toEqual(expected);
  });

  test.for<[string, string, RegExp]>([
    ['that blocks for ever', '{ block: { retryAfterSeconds: 60, message: never } }', /the limit.*never/],
    ['that fails for ever', '{ fail: { message: no quota } }', /2 reconciles in a row failed: .*no quota/],
  ])('%s', async ([, behaviour, reason], { expect }) => {
    const { end, complete } = await played([await sample(`handlers: { before-cluster-upgrade: ${behaviour} }`)], '', {
      ...whole,
      maxCalls: 12,
      maxFailures: 2,
    });
    expect({ isComplete: end?.isComplete, complete }).toEqual({ isComplete: false, complete: 0 });
    expect(end?.reason).toMatch(reason);
  });

  test('that updates machines in place, in the background', async ({ expect }) => {
    const cluster = clusterYaml('v1.32.0', { topology: 'controlPlane: { replicas: 3 }' });
    const yaml = cluster + templatedClass('KubeadmControlPlaneTemplate');
    const { calls, events, end } = await played([await sample()], yaml, {
      ...whole,
      updatesInPlace: true,
      // In real time: the sample works for two seconds.
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    });
    expect(end?.reason).toBe('');
    expect(events.filter((event) => event.kind === 'finding' && /updated in place/.test(event.text))).toEqual([]);
    const updates = calls.filter(({ hook }) => hook === 'UpdateMachine');
    expect(updates.some(({ call }) => call.message === 'the machine is being updated')).toBe(true);
    expect(updates.at(-1)?.call.retryAfterSeconds).toBe(0);
  });
});

describe.concurrent('a server in any language', () => {
  const handlers = [
    {
      name: 'up',
      requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'BeforeClusterUpgrade' },
      timeoutSeconds: 1,
    },
  ];

  test.for<[string, string, boolean]>([
    ['Fail', 'Error', false],
    ['Ignore', 'Ignored', true],
  ])('that hangs: its timeout, with failurePolicy %s, is %s', async ([failurePolicy, status, isComplete], {
    expect,
  }) => {
    const server = await startExtension(({ url }) =>
      url.includes('/discovery')
        ? { status: 'Success', handlers: handlers.map((handler) => ({ ...handler, failurePolicy })) }
        : undefined,
    );
    endWith(() => server.close());
    const config = extensionConfig('slow', { url: server.url, caBundle });
    const { end, calls } = await played([config], '', { ...whole, maxFailures: 1 });
    expect(calls.at(-1)?.call.error).toMatch(/http request timeout expired/);
    expect([calls.at(-1)?.call.status, end?.isComplete]).toEqual([status, isComplete]);
  });

  test('with another extension: the lowest retryAfterSeconds counts, and both are called again', async ({ expect }) => {
    let asked = 0;
    const blocking = (seconds: number) =>
      startExtension(({ url }) => {
        if (url.includes('/discovery')) {
          return { status: 'Success', handlers };
        }
        asked++;
        return { status: 'Success', message: `${seconds}`, retryAfterSeconds: asked <= 2 ? seconds : 0 };
      });
    const [a, b] = [await blocking(300), await blocking(20)];
    endWith(async () => void (await Promise.all([a.close(), b.close()])));
    const { calls, events } = await played(
      [extensionConfig('a', { url: a.url, caBundle }), extensionConfig('b', { url: b.url, caBundle })],
      clusterYaml('v1.32.0'),
      { upgrades: ['v1.33.0'] },
    );
    const asking = calls.filter(({ hook }) => hook === 'BeforeClusterUpgrade');
    expect(asking.map(({ call, at }) => [call.handler, at - (asking[0]?.at ?? 0)])).toEqual([
      ['up.a', 0],
      ['up.b', 0],
      ['up.a', 20_000],
      ['up.b', 20_000],
    ]);
    expect(events.find((event) => event.kind === 'condition' && /300, 20/.test(event.message))).toBeDefined();
  });

  test('whose hook cannot block: retryAfterSeconds is ignored', async ({ expect }) => {
    const ready = { ...handlers[0]?.requestHook, hook: 'AfterControlPlaneInitialized' };
    const server = await startExtension(({ url }) =>
      url.includes('/discovery')
        ? { status: 'Success', handlers: [{ name: 'ready', requestHook: ready as never }] }
        : { status: 'Success', retryAfterSeconds: 300 },
    );
    endWith(() => server.close());
    const { calls, end } = await played([extensionConfig('a', { url: server.url, caBundle })], '');
    const [first, ...more] = calls.filter(({ hook }) => hook === 'AfterControlPlaneInitialized');
    expect([first?.call.retryAfterSeconds, more, end?.isComplete]).toEqual([0, [], true]);
  });

  test('that is down at discovery: no manager would start', async ({ expect }) => {
    const { end, complete } = await played([extensionConfig('gone', { url: 'https://localhost:9', caBundle })], '');
    expect(complete).toBe(0);
    expect(end?.reason).toMatch(/^gone is not discovered, and no manager would start: Error in discovery: .*refused/);
  });

  test('whose namespaceSelector does not match: it is not called, and the output says so', async ({ expect }) => {
    const server = await startExtension(() => ({ status: 'Success', handlers }));
    endWith(() => server.close());
    const config = extensionConfig('one', { url: server.url, caBundle }, [], {
      spec: { namespaceSelector: { matchLabels: { team: 'a' } } },
    });
    const without = await played([config], clusterYaml('v1.32.0'), { upgrades: ['v1.33.0'] });
    expect(without.calls.filter(({ hook }) => hook !== 'Discovery')).toEqual([]);
    expect(without.events).toContainEqual(
      expect.objectContaining({
        kind: 'finding',
        severity: 'warning',
        text: 'one is not called for Clusters in namespace team: its namespaceSelector does not match the labels kubernetes.io/metadata.name=team',
      }),
    );
    const labels = '---\napiVersion: v1\nkind: Namespace\nmetadata: { name: team, labels: { team: a } }\n';
    const labelled = await played([config], clusterYaml('v1.32.0') + labels, { upgrades: ['v1.33.0'] });
    expect(labelled.calls.some(({ hook }) => hook === 'BeforeClusterUpgrade')).toBe(true);
  });
});

describe('many Clusters in one run', () => {
  const yamlOf = (count: number) =>
    Array.from({ length: count }, (_, index) => clusterYaml('v1.32.0').replace('name: c,', `name: c-${index},`)).join(
      '---\n',
    );

  test('run independently, and the time is linear in their number', async () => {
    const config = await sample();
    await expectLinear(
      12,
      async (count) => {
        const { clusters, complete, calls } = await played([config], yamlOf(count), whole);
        expect({ clusters, complete }).toEqual({ clusters: count, complete: count });
        expect(calls.filter(({ hook }) => hook === 'AfterClusterUpgrade')).toHaveLength(count);
      },
      12,
    );
  });
});
