import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { runProgram } from './io.ts';

test.each([
  [['discover']],
  [['call', 'a-handler.an-extension']],
  [['rehearse']],
  [['doctor', '--cluster-api-version', 'v1.14']],
  [['controller']],
  [['certs', 'status', '--secret', 'a']],
  [['openapi', 'merge']],
  [['serve', '--cert-secret', 'a/b']],
])('%j uses the API server of the given KUBECONFIG', async (args) => {
  const { code, stderr } = await runProgram(args, { env: { KUBECONFIG: '/no/such/file' } });
  expect(stderr).toContain('the kubeconfig /no/such/file does not exist');
  expect(code).toBe(2);
});

test(
  'a user whom the system knows only by number, as in pods on OpenShift, has no home folder',
  needs('root', process.getuid?.() === 0),
  () => {
    const client = new URL('../../../src/kubernetes/client/index.ts', import.meta.url);
    const load = `const { loadKubeConfig } = await import('${client}'); await loadKubeConfig({}, {}).catch(({ message }) => console.log(message));`;
    const options = { encoding: 'utf8', env: {}, uid: 1_000_650_000, gid: 0, timeout: 60_000 } as const;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', load], options);
    expect(stdout).toMatch(/^KUBECONFIG is not set, .*, and this is not a pod: use --kubeconfig FILE\n$/);
  },
);
