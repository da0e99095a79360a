import { describe, expect, test } from 'vitest';
import {
  compareVersions,
  HandlerFailure,
  handler,
  planUpgrade,
  type RequestFor,
} from '../../../src/extension/index.ts';
import { callHandler, requestFor } from '../../../src/extension/sdk/testing/index.ts';
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
