import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { KubeConfigError, loadKubeConfig } from '../../src/cluster/index.ts';

const kubeconfig = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'here',
  clusters: [{ name: 'here', cluster: { server: 'https://127.0.0.1:6443' } }],
  users: [{ name: 'here', user: {} }],
  contexts: [{ name: 'here', context: { cluster: 'here', user: 'here' } }],
});

/** With these environment variables, and a home of its own. */
function inHome(env: { KUBECONFIG: string | undefined; config?: string }): () => ReturnType<typeof loadKubeConfig> {
  return () => {
    const home = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
    if (env.config !== undefined) {
      mkdirSync(join(home, '.kube'));
      writeFileSync(join(home, '.kube', 'config'), env.config);
    }
    vi.stubEnv('HOME', home);
    vi.stubEnv('KUBECONFIG', env.KUBECONFIG);
    try {
      return loadKubeConfig({});
    } finally {
      vi.unstubAllEnvs();
      rmSync(home, { recursive: true });
    }
  };
}

const inPod = existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token');

test.skipIf(inPod).each([undefined, ''])(
  'no kubeconfig anywhere is said, with what to do: KUBECONFIG %j',
  (KUBECONFIG) => {
    expect(inHome({ KUBECONFIG })).toThrow(
      new KubeConfigError(
        'KUBECONFIG is not set, ~/.kube/config does not exist, and this is not a pod: give --kubeconfig FILE',
      ),
    );
  },
);

test.each([undefined, ''])('the one at home counts where the variable is not set: KUBECONFIG %j', (KUBECONFIG) => {
  expect(inHome({ KUBECONFIG, config: kubeconfig })().getCurrentCluster()?.server).toBe('https://127.0.0.1:6443');
});

test('the one at home is checked before it is read, also where the variable is empty', () => {
  expect(inHome({ KUBECONFIG: '', config: ' '.repeat(9 * 1024 * 1024) })).toThrow(/^the kubeconfig .*config/);
});
