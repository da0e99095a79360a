/** Sources that are mutated together, and the tests that must notice it. */
export interface MutationRoom {
  /** Glob patterns of the sources. */
  mutate: readonly string[];
  /** Glob patterns of the test files. */
  tests: readonly string[];
  /** Whether its tests make the keys they need; tests of other rooms are given keys (test/tools/given-keys.ts). */
  makesKeys?: true;
}

/**
 * The rooms that `npm run test:mutation -- ROOM` knows. Tests that measure time or start other programs are left out:
 * they are slow, and under mutation they fail for the wrong reason. So are property tests of what a table tests too.
 */
export const mutationRooms: Readonly<Record<string, MutationRoom>> = {
  rules: {
    mutate: ['src/rules/**/*.ts', '!src/rules/examples/**'],
    tests: [
      'test/rules/**/*.test.ts',
      '!test/rules/large.test.ts',
      'test/admission/decision.test.ts',
      'test/admission/parity.test.ts',
    ],
  },
  admission: {
    mutate: ['src/admission/**/*.ts'],
    tests: ['test/admission/**/*.test.ts', '!test/admission/worst.test.ts', '!test/admission/properties.test.ts'],
  },
  conversion: { mutate: ['src/conversion/**/*.ts'], tests: ['test/conversion/**/*.test.ts'] },
  api: {
    // Not generated code: the types, and the schemas compiled by ajv.
    mutate: ['src/api/**/*.ts', '!src/api/v*.ts'],
    tests: ['test/api/**/*.test.ts', '!test/api/types.test.ts'],
  },
  facts: { mutate: ['src/facts/**/*.ts'], tests: ['test/facts/**/*.test.ts'] },
  x509: {
    mutate: ['src/x509/**/*.ts'],
    tests: ['test/x509/**/*.test.ts', 'test/certs/next.test.ts'],
    makesKeys: true,
  },
  cluster: { mutate: ['src/cluster/**/*.ts'], tests: ['test/cluster/**/*.test.ts', 'test/certs/cluster*.test.ts'] },
  certs: {
    mutate: ['src/certs/**/*.ts'],
    tests: ['test/certs/**/*.test.ts', '!test/certs/killed.test.ts'],
  },
  server: {
    mutate: ['src/server/**/*.ts'],
    tests: [
      'test/server/**/*.test.ts',
      '!test/server/rotation.test.ts',
      '!test/server/decision.test.ts',
      '!test/server/reload.test.ts',
      '!test/server/tls.test.ts',
      // Only extensions speak HTTP/2.
      'test/extension/http2.test.ts',
    ],
  },
  extension: {
    mutate: ['src/extension/**/*.ts'],
    tests: ['test/extension/**/*.test.ts', '!test/extension/http2.test.ts'],
  },
  kubernetes: {
    mutate: ['src/kubernetes/**/*.ts'],
    tests: ['test/kubernetes/**/*.test.ts', 'test/conversion/review.test.ts', 'test/conversion/limits.test.ts'],
  },
  runtime: { mutate: ['src/runtime/**/*.ts'], tests: ['test/runtime/**/*.test.ts'] },
  hooks: {
    mutate: ['src/hooks/**/*.ts', '!src/hooks/message-types.ts', '!src/hooks/definitions/**'],
    tests: ['test/hooks/**/*.test.ts', '!test/hooks/message-types.test.ts'],
  },
  caches: { mutate: ['src/caches/**/*.ts'], tests: ['test/caches/**/*.test.ts'] },
  files: { mutate: ['src/files/**/*.ts'], tests: ['test/files/**/*.test.ts'] },
  terminal: { mutate: ['src/terminal/**/*.ts'], tests: ['test/terminal/**/*.test.ts', 'test/lint/formats.test.ts'] },
  variables: { mutate: ['src/variables/**/*.ts'], tests: ['test/variables/**/*.test.ts'] },
  openapi: { mutate: ['src/openapi/**/*.ts'], tests: ['test/openapi/**/*.test.ts'] },
  manifests: {
    mutate: ['src/manifests/**/*.ts'],
    // Its other tests are about the folder manifests.
    tests: [
      'test/manifests/document.test.ts',
      'test/manifests/kubectl-yaml.test.ts',
      'test/manifests/replace-file.test.ts',
      'test/manifests/split.test.ts',
      'test/commands/convert.test.ts',
    ],
  },
  schema: { mutate: ['src/schema/**/*.ts'], tests: ['test/schema/**/*.test.ts'] },
  cel: { mutate: ['src/cel/**/*.ts'], tests: ['test/cel/**/*.test.ts'] },
  webhook: { mutate: ['src/webhook/**/*.ts'], tests: ['test/webhook/**/*.test.ts'] },
};
