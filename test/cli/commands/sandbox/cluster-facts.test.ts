import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import { type ApiClient, apiClient, type Refusal } from '../../../kubernetes/client/api-client.ts';
import {
  example,
  exampleClass,
  exampleCluster,
  exampleNamespace,
  exampleSecret,
  exampleServiceObject,
} from '../../../policy/rules/examples.ts';
import { eventually } from '../../../sandbox/client.ts';
import { needs } from '../../../support/needs.ts';
import { type Shell, startShell } from '../../../support/shell.ts';
import { ready, startAlone, withoutDocuments } from './running.ts';

const configs = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
const ofClusters = '/apis/cluster.x-k8s.io/v1beta2/namespaces/clusters';

describe('a cluster whose objects refer to each other, with kubectl', needs('kubectl'), () => {
  let sandbox: ReturnType<typeof startAlone>;
  let shell: Shell;
  let send: ApiClient;
  beforeAll(async () => {
    sandbox = startAlone(['--cluster-facts']);
    const kubeconfig = await ready(sandbox.output);
    send = apiClient(await loadKubeConfig({ kubeconfig }, {}));
    shell = startShell({ ...process.env, KUBECONFIG: kubeconfig });
    // Clusters and ClusterClasses are there: no other definition is needed.
    await apply(exampleNamespace);
  });
  afterAll(async () => {
    await shell?.stop();
    sandbox.stop.abort();
    await sandbox.ended;
  });

  async function kubectl(args: readonly string[], ...objects: object[]): Promise<{ code: number; output: string }> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    const { code, stdout, stderr } = await shell.run('kubectl', args, list);
    return { code, output: `${stdout}${stderr}` };
  }

  async function apply(...objects: object[]): Promise<string> {
    const { code, output } = await kubectl(['apply', ...withoutDocuments, '-f', '-'], ...objects);
    expect(code, output).toBe(0);
    return output;
  }

  /** The last answer of a deletion that is repeated until it is as expected: facts follow the cluster a moment later. */
  const deletion = (end: 'refused' | 'allowed', remove: () => Promise<{ code: number; output: string }>) =>
    eventually(remove, ({ code }) => (code === 0) === (end === 'allowed'));

  /** A dry run of a deletion, without kubectl. */
  const tryDeletion = (name: string) => () =>
    send('DELETE', `${configs}/${name}?dryRun=All`).then(
      () => ({ code: 0, output: '' }),
      ({ message: output }: Refusal) => ({ code: 1, output }),
    );

  test('deleting an extension that a class needs is denied, and the message says what to do', async () => {
    const first = await apply({ ...exampleNamespace, metadata: { name: 'capi-extensions' } }, example());
    expect(first).toMatch(/Warning: spec\.clientConfig\.service\.name: "my-extension": there is no such Service/);
    expect(first).toContain('this Secret does not exist');
    await apply(exampleServiceObject, exampleClass());

    const dryRun = ['delete', 'ext', 'my-extension', '--dry-run=server'];
    const { output: refusal } = await deletion('refused', () => kubectl(dryRun));
    expect(refusal).toMatch(
      /^Error from server \(Forbidden\): admission webhook "validate\.\S+" denied the request: ExtensionConfig "my-extension" cannot be deleted, because its handlers are named by ClusterClass clusters\/quick-start \(spec\.patches\[0\]/,
    );
    // The Service exists by now, the Secret does not.
    const second = await apply(example({ spec: { settings: { a: 'b' } } }));
    expect(second).not.toContain('Service');
    expect(second).toContain('this Secret does not exist');
    await apply(exampleSecret());
    expect(await apply(example({ spec: { settings: { a: 'c' } } }))).not.toContain('Secret');

    // The message names a command that works.
    const [, command = ''] = /or allow it with kubectl (annotate .*)/.exec(refusal.trim()) ?? [];
    expect((await kubectl(command.split(' '))).output).toMatch(/annotated/);
    expect((await kubectl(['delete', 'ext', 'my-extension'])).output).toMatch(/"my-extension" deleted/);
  });

  test('deleting the objects that refer to it first succeeds', async () => {
    await send('POST', configs, example({ name: 'second', clientConfig: { url: 'https://second.example.com' } }));
    await send('POST', `${ofClusters}/clusterclasses`, exampleClass('generate.second', 'second'));
    expect((await deletion('refused', tryDeletion('second'))).output).toContain('clusters/second');
    await send('DELETE', `${ofClusters}/clusterclasses/second`);
    await deletion('allowed', tryDeletion('second'));
  });

  test('a Cluster that waits for a hook prevents the deletion, until it no longer waits', async () => {
    const name = 'third';
    const hook = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'AfterClusterUpgrade' };
    const created = await send('POST', configs, example({ name, clientConfig: { url: 'https://third.example.com' } }));
    const status = { handlers: [{ name: 'after.third', requestHook: hook }] };
    await send('PUT', `${configs}/${name}/status`, { ...created, status });
    const pending = 'runtime.cluster.x-k8s.io/pending-hooks';
    await send('POST', `${ofClusters}/clusters`, exampleCluster({ [pending]: 'AfterClusterUpgrade' }));
    expect((await deletion('refused', tryDeletion(name))).output).toMatch(
      /its hook AfterClusterUpgrade is still pending for Cluster clusters\/prod-1/,
    );
    await send('PATCH', `${ofClusters}/clusters/prod-1`, [{ op: 'remove', path: '/metadata/annotations' }]);
    await deletion('allowed', tryDeletion(name));
  });
});
