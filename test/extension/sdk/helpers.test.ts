import { describe, expect, test } from 'vitest';
import {
  compareVersions,
  createJobs,
  HandlerFailure,
  handler,
  planUpgrade,
  type RequestFor,
} from '../../../src/extension/index.ts';
import { assertIdempotent, callHandler, requestFor } from '../../../src/extension/sdk/testing/index.ts';
import { upgradePlanProblem } from '../../../src/runtimehooks/index.ts';

describe('upgrade plans', () => {
  const request = (from: string, to: string, fromWorkers?: string): RequestFor<'GenerateUpgradePlan'> => ({
    ...requestFor('GenerateUpgradePlan'),
    fromControlPlaneKubernetesVersion: from,
    toKubernetesVersion: to,
    fromWorkersKubernetesVersion: fromWorkers ?? '',
  });

  test.each<[string, string, string[] | undefined, string[]]>([
    ['v1.30.2', 'v1.33.1', undefined, ['v1.31.0', 'v1.32.0', 'v1.33.1']],
    ['v1.30.2', 'v1.30.5', undefined, ['v1.30.5']],
    ['v1.30.2', 'v1.30.2', undefined, []],
    ['v1.31.0', 'v1.33.1', ['v1.32.10', 'v1.32.9', 'v1.33.4', 'v1.30.1', 'v2.32.11'], ['v1.32.10', 'v1.33.1']],
  ])('a plan from %s to %s by %j: %j', (from, to, versions, steps) => {
    const { controlPlaneUpgrades = [] } = planUpgrade(request(from, to), versions);
    expect(controlPlaneUpgrades.map(({ version }) => version)).toEqual(steps);
  });

  test.each([
    ['v1.32.0', ['v1.31.0'], 'no version of Kubernetes v1.31 is known, and the upgrade has to go through one'],
    ['v1.32.0', ['newest'], '"newest" is not a version such as v1.33.0'],
    ['v1.29.0', undefined, 'invalid ControlPlane upgrade plan: item 0; version v1.29.0 must be greater than v1.30.0'],
  ])('a plan to %s by %j fails for a reason that users read', (to, versions, message) => {
    const plan = () =>
      planUpgrade(
        request('v1.30.0', to),
        versions?.filter((version) => !version.startsWith('v1.31')),
      );
    expect(plan).toThrow(HandlerFailure);
    expect(plan).toThrow(message);
  });

  test('versions are compared by number, and a candidate comes before its release', () => {
    expect(['v1.33.0', 'v1.9.0', 'v1.33.0-rc.1', 'v1.33.10'].toSorted(compareVersions)).toEqual([
      'v1.9.0',
      'v1.33.0-rc.1',
      'v1.33.0',
      'v1.33.10',
    ]);
    expect(() => compareVersions('v1.33', 'v1.34.0')).toThrow(
      new HandlerFailure('"v1.33" is not a version such as v1.33.0'),
    );
  });

  test('an invalid plan is a Failure that gives the reason', async () => {
    const skipping = handler('GenerateUpgradePlan', {
      name: 'plan',
      handle: (asked, { answer }) => {
        const plan = { controlPlaneUpgrades: [{ version: asked.toKubernetesVersion }] };
        return answer.fail(upgradePlanProblem(asked, plan) ?? 'the plan is valid');
      },
    });
    const { response } = await callHandler(skipping, request('v1.30.0', 'v1.33.0'));
    expect(response).toEqual({
      status: 'Failure',
      message:
        'invalid ControlPlane upgrade plan: item 0; expecting a version with minor 30 or 31, found version v1.33.0',
    });
  });
});

describe('jobs', () => {
  function backups(run: () => Promise<void>, options = {}) {
    const jobs = createJobs({ retryAfterSeconds: 15, ...options });
    const wait = handler('BeforeClusterUpgrade', {
      name: 'wait',
      handle: ({ cluster, toKubernetesVersion }, context) =>
        jobs.answer(context, {
          key: `${cluster.metadata?.uid} ${toKubernetesVersion}`,
          message: 'backups run',
          run: async () => run(),
        }),
    });
    return { jobs, wait };
  }
  const soon = () => new Promise<void>((resolve) => setTimeout(resolve, 5));

  test('block until the work is done, which happens once', async () => {
    let runs = 0;
    const { wait } = backups(async () => {
      runs++;
      await soon();
    });
    expect((await callHandler(wait)).response).toEqual({
      status: 'Success',
      retryAfterSeconds: 15,
      message: 'backups run',
    });
    expect((await assertIdempotent(wait, undefined, { between: soon })).result).toBe('success');
    expect(runs).toBe(1);
    const other = requestFor('BeforeClusterUpgrade', { toKubernetesVersion: 'v1.99.0' });
    expect((await callHandler(wait, other)).result).toBe('blocking');
    await soon();
    expect(runs).toBe(2);
  });

  test('fail once, with a stable message, and are run again', async () => {
    const ends = [
      async () => {
        throw new Error('secret 4711');
      },
      async () => {
        throw new HandlerFailure('the bucket is full');
      },
      async () => {},
    ];
    const { wait } = backups(async () => ends.shift()?.());
    const messages: unknown[] = [];
    for (let count = 0; count < 6; count++) {
      const { response, result } = await callHandler(wait);
      messages.push(result === 'success' ? result : response.message);
      await soon();
    }
    expect(messages).toEqual([
      'backups run',
      'the work failed: see the log of the extension',
      'backups run',
      'the bucket is full',
      'backups run',
      'success',
    ]);
  });
});
