import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { clusterApiHooks, type HookDefinition, hooks } from '../../../src/runtimehooks/index.ts';
import { schemaProblems } from '../../../src/runtimehooks/messages/checks.ts';
import { fitsOf, generated } from '../../../src/runtimehooks/messages/fits.ts';
import { messageProblems, sampleRequest, sampleResponse } from '../../../src/runtimehooks/messages/index.ts';
import { messageFitsFile, messageFitsOf, strictnesses } from '../../../tools/generate/message-fits.ts';

test.each(
  strictnesses,
)('the compiled %s schemas of messages are those of the hooks (else: npm run generate)', (strictness) => {
  expect(readFileSync(messageFitsFile(strictness), 'utf8')).toBe(messageFitsOf(strictness));
});

/** What the program checks: of each hook, the messages for which functions are generated. */
const checked = strictnesses.flatMap((strictness) =>
  clusterApiHooks.flatMap((hook) => generated[strictness].map((message) => ({ strictness, hook, message }))),
);

test('samples fit', () => {
  for (const { strictness, hook, message } of checked) {
    const value = message === 'request' ? sampleRequest(hook) : sampleResponse(hook);
    expect([hook.name, message, strictness, fitsOf(hook, message, strictness)?.(value)]).toEqual([
      ...[hook.name, message, strictness, true],
    ]);
  }
});

/** The value with one part after the other replaced or left out, and one more field in each object. */
function* variants(value: unknown, replacements: readonly unknown[]): Generator<unknown> {
  yield* replacements;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const other of variants(item, replacements)) {
        yield value.with(index, other);
      }
    }
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, unknown: 1 };
    for (const [name, part] of Object.entries(value)) {
      const { [name]: _, ...rest } = value as Record<string, unknown>;
      yield rest;
      for (const other of variants(part, replacements)) {
        yield { ...value, [name]: other };
      }
    }
  }
}

describe('what ajv generated agrees with what finds the problems', () => {
  // All that schemas of messages have: one with a Cluster, one that refers to itself.
  const some: readonly HookDefinition[] = [hooks.BeforeClusterCreate, hooks.DiscoverVariables];

  test.each(checked.filter(({ hook }) => some.includes(hook)))('$hook.name $message, $strictness', ({
    strictness,
    hook,
    message,
  }) => {
    const fits = fitsOf(hook, message, strictness)!;
    const sample = message === 'request' ? sampleRequest(hook) : sampleResponse(hook);
    const answers = new Map([
      [true, 0],
      [false, 0],
    ]);
    for (const variant of variants(sample, [null, true, 1.5, 2 ** 40, 'x', 'x'.repeat(300), [], {}, [{}], { a: 1 }])) {
      const answer = schemaProblems(hook, message, variant, strictness).length === 0;
      if (fits(variant) !== answer) {
        expect.unreachable(`${answer ? 'is not accepted' : 'is accepted'}: ${JSON.stringify(variant)}`);
      }
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    expect(answers.get(true)).toBeGreaterThan(2);
    expect(answers.get(false)).toBeGreaterThan(20);
  });
});

test('fields that an object inherits do not count', () => {
  const response = Object.create({ status: 'Success' }) as object;
  expect(fitsOf(hooks.AfterControlPlaneInitialized, 'response', 'strict')?.(response)).toBe(false);
  expect(messageProblems(hooks.AfterControlPlaneInitialized, 'response', response, 'strict')).toEqual([
    { field: 'status', message: 'must be set' },
  ]);
});

test('a hook that has the name of one of Cluster API and is another one is checked with its own schemas', () => {
  const other = { ...hooks.AfterControlPlaneInitialized };
  expect(fitsOf(other, 'response', 'strict')).toBeUndefined();
  expect(messageProblems(other, 'response', sampleResponse(other), 'strict')).toEqual([]);
});
