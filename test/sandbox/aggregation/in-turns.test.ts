import { expect, test } from 'vitest';
import { inTurns } from '../../../src/sandbox/aggregation/in-turns.ts';
import { convertingV2ToV3, convertV2ToV3 } from '../../../src/sandbox/openapi-documents/index.ts';

const many = (count: number, key: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${key}${index}`, {}]));

// A document of 8 MiB was converted in one go: other requests waited for half a second.
test('a document is converted in a step for each path and definition, with turns for others between them', async () => {
  const document = { swagger: '2.0', info: {}, paths: many(20, '/p'), definitions: many(30, 'D') };
  let clock = 0;
  let steps = 0;
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) {
      setImmediate(count);
    }
  };
  setImmediate(count);
  const counted = {
    next: () => {
      steps++;
      clock += 5;
      return converting.next();
    },
  };
  const converting = convertingV2ToV3(document);
  const converted = await inTurns(counted, new AbortController().signal, () => clock);
  isDone = true;
  expect(JSON.stringify(converted)).toBe(JSON.stringify(convertV2ToV3(document)));
  expect(steps).toBe(51);
  // One after every second step.
  expect(turns).toBeGreaterThanOrEqual(24);
  expect(turns).toBeLessThan(30);
});

test('work that is no longer needed ends at the next turn', async () => {
  const signal = AbortSignal.abort();
  const steps = convertingV2ToV3({ swagger: '2.0', info: {}, definitions: many(3, 'D') });
  let clock = 0;
  const now = () => {
    clock += 10;
    return clock;
  };
  await expect(inTurns(steps, signal, now)).rejects.toThrow('The operation was aborted');
});
