/** Sources that are mutated together, and the tests that must notice it. */
export interface MutationRoom {
  /** Glob patterns of the sources. */
  mutate: readonly string[];
  /** Glob patterns of the test files. */
  tests: readonly string[];
  /** Whether its tests make the keys they need; tests of other rooms are given keys (test/support/given-keys.ts). */
  makesKeys?: true;
}

/**
 * The rooms that `npm run test:mutation -- ROOM` knows. Tests that measure time or start other programs are left out:
 * they are slow, and under mutation they fail for the wrong reason. So are tests that wait for certificates to expire, and
 * property tests of what a table tests too.
 */
export const mutationRooms: Readonly<Record<string, MutationRoom>> = {
  rules: {
    mutate: ['src/policy/rules/**/*.ts', '!src/policy/rules/examples/**'],
    tests: [
      'test/policy/rules/**/*.test.ts',
      '!test/policy/rules/large.test.ts',
      'test/policy/admission/decision.test.ts',
      'test/policy/admission/parity.test.ts',
    ],
  },
  admission: {
    mutate: ['src/policy/admission/**/*.ts'],
    tests: [
      'test/policy/admission/**/*.test.ts',
      '!test/policy/admission/worst.test.ts',
      '!test/policy/admission/properties.test.ts',
    ],
  },
  conversion: {
    mutate: ['src/extensionconfig/conversion/**/*.ts'],
    tests: ['test/extensionconfig/conversion/**/*.test.ts'],
  },
  api: {
    // Not generated code: the types, and the schemas compiled by ajv.
    mutate: ['src/extensionconfig/api/**/*.ts', '!src/extensionconfig/api/v*.ts'],
    tests: [
      'test/extensionconfig/api/**/*.test.ts',
      '!test/extensionconfig/api/types.test.ts',
      // What mutating admission sets.
      'test/policy/admission/decision.test.ts',
      'test/policy/admission/parity.test.ts',
    ],
  },
  facts: { mutate: ['src/policy/facts/**/*.ts'], tests: ['test/policy/facts/**/*.test.ts'] },
  x509: {
    mutate: ['src/base/x509/**/*.ts'],
    tests: ['test/base/x509/**/*.test.ts', 'test/webhook/certs/next.test.ts'],
    makesKeys: true,
  },
  cluster: {
    mutate: ['src/kubernetes/client/**/*.ts'],
    tests: ['test/kubernetes/client/**/*.test.ts', 'test/webhook/certs/cluster*.test.ts'],
  },
  certs: {
    mutate: ['src/webhook/certs/**/*.ts'],
    tests: ['test/webhook/certs/**/*.test.ts', '!test/webhook/certs/killed.test.ts'],
  },
  server: {
    mutate: ['src/server/**/*.ts'],
    tests: [
      'test/server/**/*.test.ts',
      '!test/server/rotation.test.ts',
      '!test/server/decision.test.ts',
      '!test/server/reload.test.ts',
      '!test/server/tls.test.ts',
      '!test/server/hostile.test.ts',
      '!test/server/requests/resumption.test.ts',
      // Only extensions speak HTTP/2.
      'test/extension/sdk/http2.test.ts',
    ],
  },
  extension: {
    mutate: ['src/extension/sdk/**/*.ts'],
    tests: [
      'test/extension/sdk/**/*.test.ts',
      '!test/extension/sdk/http2.test.ts',
      '!test/extension/sdk/log.test.ts',
      '!test/extension/sdk/process.test.ts',
      '!test/extension/sdk/resumption.test.ts',
      // Types of templates have the trees of their fields.
      'test/extension/scaffold/template-types.test.ts',
    ],
  },
  kubernetes: {
    mutate: ['src/kubernetes/objects/**/*.ts'],
    tests: ['test/kubernetes/objects/**/*.test.ts', 'test/extensionconfig/conversion/review.test.ts'],
  },
  runtime: {
    mutate: ['src/runtimehooks/client/**/*.ts'],
    tests: [
      'test/runtimehooks/client/**/*.test.ts',
      'test/exports/client.test.ts',
      // The report about an extension.
      'test/cli/commands/discover.test.ts',
    ],
  },
  hooks: {
    mutate: ['src/runtimehooks/catalog/**/*.ts', '!src/runtimehooks/catalog/definitions/**'],
    tests: ['test/runtimehooks/catalog/**/*.test.ts'],
  },
  caches: { mutate: ['src/base/caches/**/*.ts'], tests: ['test/base/caches/**/*.test.ts'] },
  files: { mutate: ['src/base/files/**/*.ts'], tests: ['test/base/files/**/*.test.ts'] },
  terminal: {
    mutate: ['src/base/terminal/**/*.ts'],
    tests: ['test/base/terminal/**/*.test.ts', 'test/checks/lint/formats.test.ts', 'test/cli/framework/log.test.ts'],
  },
  variables: { mutate: ['src/runtimehooks/variables/**/*.ts'], tests: ['test/runtimehooks/variables/**/*.test.ts'] },
  openapi: {
    mutate: ['src/sandbox/openapi-documents/**/*.ts'],
    tests: ['test/sandbox/openapi-documents/**/*.test.ts'],
  },
  manifests: {
    mutate: ['src/kubernetes/manifests/**/*.ts'],
    // Its other tests are about the folder manifests.
    tests: [
      'test/kubernetes/manifests/document.test.ts',
      'test/kubernetes/manifests/kubectl-yaml.test.ts',
      'test/kubernetes/manifests/replace-file.test.ts',
      'test/kubernetes/manifests/split.test.ts',
      'test/cli/commands/convert.test.ts',
    ],
  },
  schema: {
    mutate: ['src/kubernetes/schema/**/*.ts'],
    // The schemas of models have most of what dropping nulls goes by.
    tests: ['test/kubernetes/schema/**/*.test.ts', 'test/sandbox/models/built-in-schemas.test.ts'],
  },
  cel: { mutate: ['src/kubernetes/cel/**/*.ts'], tests: ['test/kubernetes/cel/**/*.test.ts'] },
  webhook: { mutate: ['src/webhook/reviews/**/*.ts'], tests: ['test/webhook/reviews/**/*.test.ts'] },
};
