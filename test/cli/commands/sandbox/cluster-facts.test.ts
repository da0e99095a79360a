import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningSandbox, startSandboxWithWebhook } from '../../../../src/cli/commands/sandbox/start.ts';
import {
  example,
  exampleClass,
  exampleCluster,
  exampleNamespace,
  exampleSecret,
  exampleServiceObject,
} from '../../../policy/rules/examples.ts';
import { needs } from '../../../support/needs.ts';
import { type Shell, startShell } from '../../../support/shell.ts';

describe('a cluster whose objects refer to each other, with kubectl', needs('kubectl'), () => {
  let sandbox: RunningSandbox;
  let shell: Shell;
  beforeAll(async () => {
    const quiet = pino({ level: 'silent' });
    sandbox = await startSandboxWithWebhook(
      { port: 0, clusterFacts: true, interrupts: true },
      quiet,
      AbortSignal.timeout(25_000),
    );
    shell = startShell({ ...process.env, KUBECONFIG: sandbox.kubeconfigFile });
    // Clusters and ClusterClasses are there: no other definition is needed.
    await apply(exampleNamespace);
  });
  afterAll(async () => {
    await shell?.stop();
    await sandbox?.stop();
  });

  async function kubectl(args: readonly string[], ...objects: object[]): Promise<{ code: number; output: string }> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    const { code, stdout, stderr } = await shell.run('kubectl', args, list);
    return { code, output: `${stdout}${stderr}` };
  }

  async function apply(...objects: object[]): Promise<string> {
    const { code, output } = await kubectl(['apply', '-f', '-'], ...objects);
    expect(code, output).toBe(0);
    return output;
  }

  /** Repeats a deletion, a dry run of it, until the response is as expected: facts follow the cluster a moment later. */
  async function deletion(
    name: string,
    wanted: 'refused' | 'allowed',
    flags: readonly string[] = ['--dry-run=server'],
  ): Promise<string> {
    for (let tries = 0; ; tries++) {
      const { code, output } = await kubectl(['delete', 'ext', name, ...flags]);
      if ((code === 0 ? 'allowed' : 'refused') === wanted) {
        return output;
      }
      if (tries > 100) {
        throw new Error(`still not ${wanted}: ${output}`);
      }
    }
  }

  test('deleting an extension that a class needs is denied, and the message says what to do', async () => {
    const first = await apply({ ...exampleNamespace, metadata: { name: 'capi-extensions' } }, example());
    expect(first).toMatch(/Warning: spec\.clientConfig\.service\.name: "my-extension": there is no such Service/);
    expect(first).toContain('this Secret does not exist');
    await apply(exampleServiceObject, exampleClass());

    const refusal = await deletion('my-extension', 'refused');
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
    const second = example({ name: 'second', clientConfig: { url: 'https://second.example.com' } });
    await apply(second, exampleClass('generate.second'));
    await deletion('second', 'refused');
    await kubectl(['-n', 'clusters', 'delete', 'cc', 'quick-start']);
    expect(await deletion('second', 'allowed', [])).toMatch(/"second" deleted/);
  });

  test('a Cluster that waits for a hook prevents the deletion, until it no longer waits', async () => {
    const name = 'third';
    await apply(
      example({ name, clientConfig: { url: 'https://third.example.com' } }),
      exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' }),
    );
    const handlers = [
      {
        name: 'after.third',
        requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'AfterClusterUpgrade' },
      },
    ];
    const status = JSON.stringify({ status: { handlers } });
    await kubectl(['patch', 'ext', name, '--subresource=status', '--type=merge', '-p', status]);
    expect(await deletion(name, 'refused')).toMatch(
      /its hook AfterClusterUpgrade is still pending for Cluster clusters\/prod-1/,
    );
    await kubectl(['-n', 'clusters', 'annotate', 'cl', 'prod-1', 'runtime.cluster.x-k8s.io/pending-hooks-']);
    await deletion(name, 'allowed');
  });

  test('the garbage collector is exempt', async () => {
    const fourth = example({ name: 'fourth', clientConfig: { url: 'https://fourth.example.com' } });
    await apply(fourth, exampleClass('generate.fourth'));
    await deletion('fourth', 'refused');
    const { code, output } = await kubectl([
      'delete',
      'ext',
      'fourth',
      '--as=system:serviceaccount:kube-system:generic-garbage-collector',
    ]);
    expect(code, output).toBe(0);
  });
});
