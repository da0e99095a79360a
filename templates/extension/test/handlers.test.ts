import { test } from 'node:test';
import { createExtensionServer } from 'extensionconfig-webhook/extension';
import { assertDeterministic, assertIdempotent } from 'extensionconfig-webhook/extension/testing';
import { handlers } from '../src/handlers/index.ts';

test('Cluster API takes the handlers', () => {
  createExtensionServer({ handlers });
});

// The requests are samples; pass your own as the second argument.
for (const handler of handlers) {
  test(`${handler.name}: the same request has the same answer`, async () => {
    await assertDeterministic(handler);
  });
  test(`${handler.name}: may be called again after it succeeded`, async () => {
    await assertIdempotent(handler, undefined, { between: () => new Promise((resolve) => setTimeout(resolve, 10)) });
  });
}
