import { describe, expect, test } from 'vitest';
import {
  completePlan,
  type GenerateUpgradePlanRequest,
  type GenerateUpgradePlanResponse,
  upgradePlanProblem,
} from '../../../src/runtimehooks/index.ts';
import { recordedCalls } from '../messages/recorded.ts';

/** Versions of the control plane, the workers, and the target; steps of the control plane and the workers. */
type Case = [string, [string, string, string], string[], string[]];

const complete = ([controlPlane, workers, to]: Case[1], steps: string[], workerSteps: string[]) =>
  completePlan({ controlPlane, workers, to }, { controlPlane: steps, workers: workerSteps });

describe('a plan is completed as Cluster API does', () => {
  test.each<[...Case, string[]]>([
    ['the workers follow at once', ['v1.30.0', 'v1.30.0', 'v1.32.1'], ['v1.31.5', 'v1.32.1'], [], ['v1.32.1']],
    [
      'and in every third minor',
      ['v1.30.0', 'v1.30.0', 'v1.34.0'],
      ['v1.31.0', 'v1.32.0', 'v1.33.0', 'v1.33.5', 'v1.34.0'],
      [],
      ['v1.33.5', 'v1.34.0'],
    ],
    [
      'with steps of their own they take these',
      ['v1.30.0', 'v1.30.0', 'v1.32.0'],
      ['v1.31.0', 'v1.32.0'],
      ['v1.31.0', 'v1.32.0'],
      ['v1.31.0', 'v1.32.0'],
    ],
    ['the control plane is at the target', ['v1.30.0', 'v1.29.0', 'v1.30.0'], [], ['v1.30.0'], ['v1.30.0']],
    ['no workers', ['v1.30.0', '', 'v1.31.0'], ['v1.31.0'], [], []],
    ['another build', ['v1.30.0+a', '', 'v1.30.0+b'], ['v1.30.0+b'], [], []],
    ['candidates', ['v1.30.0-rc.2', '', 'v1.30.0'], ['v1.30.0-rc.10', 'v1.30.0'], [], []],
    ['versions without a patch number', ['v1.30.0', '', 'v1.31.0'], ['1.31'], [], []],
    [
      'workers further behind than any known version get no steps, and no error',
      ['v1.31.0', 'v1.27.0', 'v1.32.0'],
      ['v1.32.0'],
      [],
      [],
    ],
  ])('%s', (_, upgrade, controlPlane, workers, completed) =>
    expect(complete(upgrade, controlPlane, workers)).toEqual({ controlPlane, workers: completed }));
});

describe("an invalid plan has the text of Cluster API's condition", () => {
  test.each<[...Case, string]>([
    [
      'steps at the target',
      ['v1.30.0', '', 'v1.30.0'],
      ['v1.30.0'],
      [],
      'invalid ControlPlane upgrade plan: control plane is already at the desired version',
    ],
    [
      'no steps',
      ['v1.30.0', '', 'v1.31.0'],
      [],
      [],
      'invalid ControlPlane upgrade plan: control plane upgrade plan must end with version v1.31.0, ends with v1.30.0 instead',
    ],
    [
      'back',
      ['v1.30.0', '', 'v1.31.0'],
      ['v1.29.0', 'v1.31.0'],
      [],
      'invalid ControlPlane upgrade plan: item 0; version v1.29.0 must be greater than v1.30.0',
    ],
    [
      'a skipped minor',
      ['v1.30.0', '', 'v1.32.0'],
      ['v1.32.0'],
      [],
      'invalid ControlPlane upgrade plan: item 0; expecting a version with minor 30 or 31, found version v1.32.0',
    ],
    [
      'workers without workers',
      ['v1.30.0', '', 'v1.31.0'],
      ['v1.31.0'],
      ['v1.31.0'],
      'invalid worker upgrade plan; there are no workers or workers already at the desired version',
    ],
    [
      'workers elsewhere, each version once',
      ['v1.30.0', 'v1.30.0', 'v1.31.0'],
      ['v1.31.0'],
      ['v1.30.5', 'v1.30.5', 'v1.31.0'],
      "invalid workers upgrade plan: versions v1.30.5 doesn't match any versions in the control plane upgrade plan nor the control plane version",
    ],
    [
      'workers too far',
      ['v1.30.0', 'v1.27.0', 'v1.31.0'],
      ['v1.31.0'],
      ['v1.31.0'],
      'invalid workers upgrade plan, item 0; workers cannot go from minor 27 (v1.27.0) to minor 31 (v1.31.0), an intermediate step is required to comply with Kubernetes version skew rules',
    ],
    [
      'workers not to the end',
      ['v1.30.0', 'v1.30.0', 'v1.32.0'],
      ['v1.31.0', 'v1.32.0'],
      ['v1.31.0'],
      'invalid workers upgrade plan; workers upgrade plan must end with version v1.32.0, ends with v1.31.0 instead',
    ],
    [
      'workers back',
      ['v1.30.0', 'v1.29.0', 'v1.32.0'],
      ['v1.31.0', 'v1.32.0'],
      ['v1.32.0', 'v1.31.0'],
      'invalid workers upgrade plan, item 1; version v1.31.0 must be greater than v1.32.0',
    ],
    [
      'workers in another order of builds',
      ['v1.30.0', 'v1.30.0', 'v1.31.0+c'],
      ['v1.31.0+a', 'v1.31.0+b', 'v1.31.0+c'],
      ['v1.31.0+b', 'v1.31.0+a', 'v1.31.0+c'],
      'invalid workers upgrade plan, item 1; version v1.31.0+a must be before v1.31.0+b',
    ],
    [
      'workers in a build that the control plane no longer has',
      ['v1.31.0+b', 'v1.31.0+a', 'v1.31.0+b'],
      [],
      [],
      'failer to determine version v1.31.0+a order',
    ],
  ])('%s', (_, upgrade, controlPlane, workers, problem) =>
    expect(complete(upgrade, controlPlane, workers)).toBe(problem));

  test.each([
    ...['new', '', 'v1.x', 'v1.31.x', 'v1.31+a', 'v1.31.', 'v1.31.0.1', 'v1.31.0-', 'v1.31.0-rc.01', 'v1.31.0-rc_1'],
    ...['v1.31.0+', 'v1.31.0+a.b_c', 'v1.31.0+a+b', 'v1.31.99999999999999999'],
  ])('that contains %j', (version) =>
    expect(complete(['v1.30.0', '', 'v1.31.0'], [version], [])).toBe(
      `invalid ControlPlane upgrade plan: item 0; failed to parse version ${version}: it is not a version such as v1.33.0`,
    ));

  test.each(['1.31', 'v1.031', ' v1.31.0', 'v1.31.0+01.a-b'])('%j is a version', (version) =>
    expect(complete(['v1.30.0', '', version], [version], [])).toEqual({ controlPlane: [version], workers: [] }));
});

test('a plan of very many steps is not examined', () => {
  const steps = Array.from({ length: 101 }, (_, index) => `v1.30.${index + 1}`);
  expect(complete(['v1.30.0', '', 'v1.30.101'], steps, [])).toBe(
    'the upgrade plan has more than 100 steps for controlPlane, the maximum here',
  );
  expect(complete(['v1.30.0', '', 'v1.30.100'], steps.slice(0, 100), [])).toMatchObject({ workers: [] });
});

test.each(
  recordedCalls.filter(({ file }) => file.startsWith('GenerateUpgradePlan')),
)('a plan that Cluster API accepted is valid: $file', ({ body, answer }) => {
  const response = answer as unknown as GenerateUpgradePlanResponse;
  expect(upgradePlanProblem(body as unknown as GenerateUpgradePlanRequest, response)).toBeUndefined();
});
