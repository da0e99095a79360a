import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { isAbsolute } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { AppsV1Api, CoreV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { blocksOf } from '../../docs/blocks.ts';
import { isRun } from '../../docs/every-command.ts';
import { readPage } from '../../docs/pages.ts';
import { eventually } from '../../sandbox/client.ts';
import { needs } from '../../tools/needs.ts';
import { runProgram } from '../io.ts';
import { ready, start } from './running.ts';

const extensionConfigs = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', plural: 'extensionconfigs' };

interface Status {
  conditions?: { type: string; status: string }[];
}

/** What a sandbox has, by its kubeconfig. */
function clientsOf(kubeconfig: string) {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const objects = config.makeApiClient(CustomObjectsApi);
  const statusOf = async (name: string): Promise<Status | undefined> =>
    (await objects.getClusterCustomObject({ ...extensionConfigs, name })).status;
  const discovered = (name: string, wanted: 'True' | 'False') =>
    eventually(
      () => statusOf(name),
      (status) => status?.conditions?.some(({ type, status }) => type === 'Discovered' && status === wanted) === true,
    );
  return {
    apps: config.makeApiClient(AppsV1Api),
    core: config.makeApiClient(CoreV1Api),
    objects,
    statusOf,
    discovered,
  };
}

test('the story that it prints is told, and run, by the page about it; kubectl shows what it says', {
  ...needs('kubectl'),
  timeout: 60_000,
}, async () => {
  const { stop, output, ended } = start([]);
  try {
    const kubeconfig = await ready(output);
    const printed = output.out.split('\n').filter((line) => /^ {2}(export|kubectl) /.test(line));
    const commands = printed.map((line) => line.replace(/ +#.*$/, '').trim());
    expect(commands.shift()).toBe(`export KUBECONFIG=${kubeconfig}`);
    const run = blocksOf(readPage('docs/sandbox.md')).filter(isRun);
    for (const command of commands) {
      const told = command.replace(`${process.cwd()}/`, '');
      expect(
        run.some(({ text }) => text.split('\n').some((line) => line.replace(/ +#.*$/, '') === told)),
        told,
      ).toBe(true);
    }
    const kubectl = async (part: string, code = 0) => {
      const [program = '', ...args] = commands.find((command) => command.includes(part))?.split(' ') ?? [];
      const env = { ...process.env, KUBECONFIG: kubeconfig };
      const answer = await promisify(execFile)(program, args, { env, timeout: 40_000 }).catch(
        (error: { code: number; stdout: string; stderr: string }) => error,
      );
      expect('code' in answer ? answer.code : 0, `${part}\n${answer.stderr}`).toBe(code);
      return answer.stdout + answer.stderr;
    };
    expect(await kubectl('condition=Discovered')).toMatch(/condition met/);
    expect(await kubectl('get extensionconfigs')).toMatch(/^sample-extension +True /m);
    const described = await kubectl('describe');
    expect(described).toMatch(/Name: +before-cluster-create\.sample-extension$/m);
    expect(described).toMatch(/Normal +Discovered .* extensionconfig-webhook +discovered 16 handlers$/m);
    expect(await kubectl('bad-target', 1)).toMatch(/url and service are both set/);

    const [, program = '', rehearsal = ''] = /^ {2}(\S+) (rehearse .*)$/m.exec(output.out) ?? [];
    expect(isAbsolute(program)).toBe(true);
    accessSync(program, constants.X_OK);
    const played = await runProgram(rehearsal.split(' '), { env: { KUBECONFIG: kubeconfig } });
    expect(played.stderr).toBe('');
    expect(played.stdout).toMatch(/The life was played to its end: .* 11 calls$/m);

    // The page stops the extension in the same way, and starts it again.
    const { apps, core, discovered } = clientsOf(kubeconfig);
    const where = { namespace: 'sample-extension', name: 'sample-extension' };
    await apps.patchNamespacedDeployment({ ...where, body: [{ op: 'replace', path: '/spec/replicas', value: 0 }] });
    await discovered('sample-extension', 'False');
    const { items } = await eventually(
      () => core.listNamespacedEvent({ namespace: 'default' }),
      (events) => events.items.some(({ reason }) => reason === 'NotDiscovered'),
    );
    expect(items.find(({ reason }) => reason === 'NotDiscovered')).toMatchObject({
      type: 'Warning',
      involvedObject: { kind: 'ExtensionConfig', name: 'sample-extension' },
      message: expect.stringMatching(/^Error in discovery: .*(connection refused|the server closed the connection)$/),
    });
  } finally {
    stop.abort();
    expect(await ended).toBe(0);
  }
  expect(output.err).not.toMatch(/"level":"error"/);
});

test('--no-extension leaves out the sample extension, and the controller finds others', async () => {
  const { stop, output, ended } = start(['--no-extension']);
  try {
    const { objects, apps, discovered } = clientsOf(await ready(output));
    expect(await objects.listClusterCustomObject(extensionConfigs)).toMatchObject({ items: [] });
    expect((await apps.listDeploymentForAllNamespaces()).items).toEqual([]);
    // Somebody's own extension, which is not there.
    await objects.createClusterCustomObject({
      ...extensionConfigs,
      body: {
        apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
        kind: 'ExtensionConfig',
        metadata: { name: 'own' },
        spec: { clientConfig: { url: 'https://127.0.0.1:1' } },
      },
    });
    await discovered('own', 'False');
  } finally {
    stop.abort();
    expect(await ended).toBe(0);
  }
});

test('--no-controller leaves out the controller, and the sample extension runs', async () => {
  const { stop, output, ended } = start(['--no-controller']);
  try {
    const { statusOf, apps } = clientsOf(await ready(output));
    await eventually(
      async () => output.out,
      (text) => text.includes('The sample extension listens.'),
    );
    const { status } = await eventually(
      () => apps.readNamespacedDeployment({ namespace: 'sample-extension', name: 'sample-extension' }),
      (deployment) => deployment.status !== undefined,
    );
    expect(status?.readyReplicas).toBe(1);
    expect(output.out).not.toContain('Discovered');
    // A controller would have asked the extension by then.
    await sleep(500);
    expect(await statusOf('sample-extension')).toBeUndefined();
  } finally {
    stop.abort();
    expect(await ended).toBe(0);
  }
});
