import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../support/runs.ts';
import { type Answer, blocking, callLine, clusterYaml, simulate } from './simulating.ts';

/** Failures before a hook succeeds. */
const trouble = fc.oneof(
  fc.record({ retryAfterSeconds: fc.integer({ min: 1, max: 100_000 }), message: fc.constant('wait') }),
  fc.constant({ error: 'no' } as Answer),
);
const troubles = fc.dictionary(
  fc.constantFrom(...blocking, 'AfterControlPlaneInitialized'),
  fc.array(trouble, { maxLength: 4 }),
);
const scenario = fc.record({
  from: fc.integer({ min: 28, max: 31 }),
  upgrades: fc.subarray(['v1.32.0', 'v1.33.1', 'v1.35.0']),
  isDeleted: fc.boolean(),
  replicas: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
});

const yamlOf = (from: number, replicas: readonly number[]) =>
  clusterYaml(`v1.${from}.0`, {
    topology: `workers: { machineDeployments: [${replicas.map((count, index) => `{ class: w, name: md-${index}, replicas: ${count} }`).join(', ')}] }`,
  });

test('whatever goes wrong for a while, the same hooks pass in the same order as without it', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, troubles, async ({ from, replicas, ...rest }, wrong) => {
      const yaml = yamlOf(from, replicas);
      const smooth = await simulate(() => undefined, { yaml, ...rest });
      expect(smooth.end).toMatchObject({ isComplete: true, reason: '' });

      const passed: string[] = [];
      const rough = await simulate(
        (effect, nth) => {
          const answer = wrong[effect.hook]?.[nth - 1];
          // AfterControlPlaneInitialized cannot block.
          const isWrong =
            answer !== undefined &&
            !(
              effect.hook === 'AfterControlPlaneInitialized' &&
              typeof answer === 'object' &&
              'retryAfterSeconds' in answer
            );
          if (!isWrong) {
            passed.push(callLine(effect));
          }
          return isWrong ? answer : undefined;
        },
        { yaml, ...rest, maxCalls: 1000, maxFailures: 50 },
      );
      expect(rough.end).toMatchObject({ isComplete: true, reason: '' });
      expect(passed).toEqual(smooth.calls.map(callLine));
      expect(rough.state.pending.size).toBe(0);
      // Time never goes back, and no call is made during a wait.
      const times = rough.calls.map(({ at }) => at);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }),
    { numRuns: runs(30) },
  );
});

test('every simulation ends, whatever is answered forever', async () => {
  const forEver = fc.dictionary(fc.constantFrom(...blocking), trouble);
  await fc.assert(
    fc.asyncProperty(scenario, forEver, async ({ from, replicas, ...rest }, wrong) => {
      const { end, calls } = await simulate(({ hook }) => wrong[hook], {
        yaml: yamlOf(from, replicas),
        ...rest,
        maxCalls: 40,
        maxFailures: 5,
      });
      expect(calls.length).toBeLessThanOrEqual(40);
      expect(end.isComplete || end.reason !== '').toBe(true);
    }),
    { numRuns: runs(30) },
  );
});
