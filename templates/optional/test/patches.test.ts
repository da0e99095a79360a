import { test } from 'node:test';
import { applyPatches, assertDeterministic, requestFor } from 'cluster-api-extension/testing';
import { generatePatches } from '../src/handlers/generate-patches.ts';

// Other templates would replace Machines of all Clusters: after a change that is meant to do that, run
// node --test --test-update-snapshots test/patches.test.ts
test('templates are patched as in patches.golden.json', async (t) => {
  // A request as `extensionconfig-webhook rehearse --write-requests DIR` writes it is better: see requestFromFile.
  const request = requestFor('GeneratePatches', { variables: [{ name: 'tier', value: 'gold' }] });
  // `extensionconfig-webhook conformance --recorded` compares with what another release did to your Clusters.
  // With CustomResourceDefinitions of your providers ({ crds }), templates are validated, too.
  const { response } = await assertDeterministic(generatePatches, request);
  const serializers = [(templates: unknown) => `${JSON.stringify(templates, null, 2)}\n`];
  t.assert.fileSnapshot(applyPatches(request, response), 'test/patches.golden.json', { serializers });
});
