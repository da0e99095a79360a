import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../../support/needs.ts';
import { type Shell, startShell } from '../../../support/shell.ts';
import { kubectlOf, ready, startAlone } from './running.ts';

let shell: Shell;
beforeAll(() => {
  shell = startShell(process.env);
});
afterAll(() => shell.stop());

describe('kubectl', needs('kubectl'), () => {
  let sandbox: ReturnType<typeof startAlone>;
  let kubeconfig: string;
  let kubectl: ReturnType<typeof kubectlOf>;
  beforeAll(async () => {
    sandbox = startAlone([]);
    kubeconfig = await ready(sandbox.output);
    kubectl = kubectlOf(shell, kubeconfig);
  });
  afterAll(async () => {
    sandbox.stop.abort();
    await sandbox.ended;
  });

  test('has a Cluster with its class and Machines, once the samples are applied', async () => {
    const samples = 'manifests/samples/plan';
    await kubectl('apply', '-f', `${samples}/crds.yaml`);
    await kubectl('wait', '-f', `${samples}/crds.yaml`, '--for=condition=Established');
    expect(await kubectl('apply', '-f', samples)).not.toMatch(/Warning|configured/);
    expect(await kubectl('get', 'machines')).toMatch(
      /^NAME +CLUSTER +VERSION +AGE\ndemo-control-plane-1 +demo +v1\.34\.0 .*\ndemo-md-0-1 .*\ndemo-md-0-2 .*\n$/,
    );
    expect(await kubectl('get', 'cluster-api', '-o', 'name')).toContain('machineset.cluster.x-k8s.io/demo-md-0-');
  });

  test('top and server-side apply are refused at once, in one sentence', async () => {
    await expect(kubectl('top', 'pods')).rejects.toThrow(/^error: Metrics API not available\n$/);
    const file = 'manifests/samples/good-url.yaml';
    await expect(kubectl('apply', '--server-side', '-f', file)).rejects.toThrow(
      /^error: Server-side apply not available on the server: \(the sandbox has server-side apply in dry runs only: use kubectl apply without --server-side\)\n$/,
    );
  });
});
