import { chai } from 'vitest';

/** Marks an `expect` that rejects expressions already: the files of a worker share it. */
const guarded = Symbol.for('refuses expressions');

function holdsExpression(expected: unknown): boolean {
  return (
    expected instanceof RegExp ||
    // Not the result of expect.stringMatching() and the like.
    (typeof expected === 'object' &&
      expected !== null &&
      !('asymmetricMatch' in expected) &&
      Object.values(expected).some(holdsExpression))
  );
}

// toMatchObject() compares an expression by its properties, and it has none: every text would match it.
const { Assertion } = chai as unknown as { Assertion: { prototype: { [guarded]?: true } } };
if (Assertion.prototype[guarded] !== true) {
  Assertion.prototype[guarded] = true;
  chai.use((_chai, utils) => {
    utils.overwriteMethod(
      Assertion.prototype,
      'toMatchObject',
      (checked: (this: unknown, ...given: unknown[]) => unknown) =>
        function (this: unknown, ...given: unknown[]) {
          if (holdsExpression(given[0])) {
            throw new Error('toMatchObject() takes no expressions: write expect.stringMatching(/…/)');
          }
          return checked.apply(this, given);
        },
    );
  });
}
