import { expect, test } from 'vitest';
import { runProgram } from './io.ts';

test.each([
  [['discover']],
  [['call', 'a-handler.an-extension', '--sample']],
  [['rehearse']],
  [['preflight', '--target-cluster-api-version', 'v1.14']],
  [['controller']],
  [['certs', 'status', '--secret', 'a']],
  [['openapi', 'merge']],
  [['lint', '--context', 'cluster', '.']],
  [['serve', '--cert-secret', 'a/b']],
])('%j uses the API server of the given KUBECONFIG', async (args) => {
  const { code, stderr } = await runProgram(args, { env: { KUBECONFIG: '/no/such/file' } });
  expect(stderr).toContain('KUBECONFIG: /no/such/file does not exist');
  expect(code).toBe(2);
});
