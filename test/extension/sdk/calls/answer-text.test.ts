import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { answerText } from '../../../../src/extension/sdk/calls/answer-text.ts';

/** Values that JSON leaves out, writes otherwise, or writes as the object itself decides. */
const special = fc.constantFrom(
  undefined,
  Number.NaN,
  Number.NEGATIVE_INFINITY,
  -0,
  9,
  10,
  0.5,
  1e21,
  true,
  false,
  () => {},
  Symbol('s'),
  new Date(0),
  Object('text'),
  Object(1),
  Object(false),
  { toJSON: () => 1, left: 'out' },
  Object.assign(Object.create({ inherited: 'text' }), { own: 1 }),
  new (class {
    field = 1;
    method() {}
  })(),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    special,
    fc.string(),
    fc.double(),
    fc.integer(),
    fc.array(tie('value')),
    fc.dictionary(fc.string(), tie('value')),
  ),
}));

test('an answer is exactly its JSON, up to its limit and not beyond', () => {
  fc.assert(
    fc.property(value, (field) => {
      const text = JSON.stringify({ field });
      const length = Buffer.byteLength(text);
      expect(answerText({ field }, length)).toBe(text);
      expect(answerText({ field }, length - 1)).toBeUndefined();
    }),
  );
});

const nested = (depth: number, innermost: unknown) => {
  let made = innermost;
  for (let level = 0; level < depth; level++) {
    made = [made];
  }
  return made as object;
};

test.each([
  ['millions of small values', new Array(2_000_000).fill(0), [[expect.anything()]]],
  ['more than the limit', new Array(10_500_000).fill(0), []],
  // Otherwise what contains itself would be counted until the stack ends.
  ['deep nesting', nested(300, 0), [[expect.anything(), expect.any(Function)]]],
])('only an unusual answer is written with a function that counts each value, which takes seconds for millions: %s', (_, answer, calls) => {
  const stringify = vi.spyOn(JSON, 'stringify');
  try {
    answerText(answer);
    expect(stringify.mock.calls).toEqual(calls);
  } finally {
    stringify.mockRestore();
  }
});

test.each([
  ['deep nesting', nested(300, 'x'.repeat(100))],
  ['an object that decides itself', [new Date(0), ...new Array(100).fill(null)]],
])('an unusual answer is refused before it is whole text: %s', (_, answer) => {
  const byteLength = vi.spyOn(Buffer, 'byteLength');
  try {
    expect(answerText(answer, 60)).toBeUndefined();
    expect(byteLength).not.toHaveBeenCalled();
  } finally {
    byteLength.mockRestore();
  }
});
