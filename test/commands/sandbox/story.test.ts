import { exec, execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { needs } from '../../tools/needs.ts';
import { ready, start } from './running.ts';

describe('the story that it prints', needs('kubectl'), () => {
  test('runs, command by command, and the page about the sandbox tells the same', { timeout: 90_000 }, async () => {
    const { stop, output, ended } = start([]);
    try {
      await ready(output);
      const lines = output.out.split('\n').filter((line) => /^ {2}(export|kubectl) /.test(line));
      const commands = lines.map((line) => line.replace(/ +#.*$/, '').trim());
      const env = { ...process.env, KUBECONFIG: /=(.*)/.exec(commands[0] ?? '')?.[1] };
      const results = new Map<string, string>();
      for (const command of commands.slice(1)) {
        const [program = '', ...args] = command.split(' ');
        const answer = await promisify(execFile)(program, args, { env, timeout: 40_000 }).catch(
          (error: { code: number; stdout: string; stderr: string }) => error,
        );
        const text = `${answer.stdout}${answer.stderr}`;
        expect('code' in answer ? answer.code : 0, `${command}\n${text}`).toBe(command.includes('bad-') ? 1 : 0);
        results.set(command.replace(/\/\S*\//, ''), text);
      }
      const printed = (part: string) => [...results].find(([command]) => command.includes(part))?.[1] ?? '';
      expect(printed('get extensionconfigs')).toMatch(/^sample-extension +True /m);
      const described = printed('describe');
      expect(described).toMatch(/Name: +before-cluster-create\.sample-extension$/m);
      expect(described).toMatch(/Normal +Discovered .* extensionconfig-webhook +discovered 16 handlers$/m);
      expect(printed('get events')).toMatch(
        /Warning +NotDiscovered +extensionconfig\/sample-extension +Error in discovery: .*connection refused$/m,
      );
      expect(printed('bad-target')).toMatch(/url and service are both set/);

      // What stopped comes back at the place where it was, and is found again.
      const wait = ['wait', 'extensionconfig', 'sample-extension', '--for=condition=Discovered', '--timeout=30s'];
      expect((await promisify(execFile)('kubectl', wait, { env })).stdout).toMatch(/condition met/);
      const rollout = ['-n', 'sample-extension', 'rollout', 'status', 'deployment/sample-extension', '--timeout=20s'];
      expect((await promisify(execFile)('kubectl', rollout, { env })).stdout).toMatch(/successfully rolled out/);

      const [, rehearsal = ''] = /^ {2}(\S+ rehearse .*)$/m.exec(output.out) ?? [];
      const played = await promisify(exec)(rehearsal, { env, cwd: tmpdir() });
      expect(played.stderr).toBe('');
      expect(played.stdout).toMatch(/The life was played to its end: .* 11 calls$/m);

      const page = readFileSync('docs/sandbox.md', 'utf8');
      for (const command of commands.slice(1)) {
        expect(page).toContain(command.replace(`${process.cwd()}/`, ''));
      }
    } finally {
      stop.abort();
      expect(await ended).toBe(0);
    }
    expect(output.err).not.toMatch(/"level":"error"/);
  });

  test('--no-extension and --no-controller leave out one of them', { timeout: 60_000 }, async () => {
    const { stop, output, ended } = start(['--no-extension']);
    try {
      const kubeconfig = await ready(output);
      const kubectl = (...args: string[]) =>
        promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
      expect(await kubectl('get', 'ext,deployments', '-A')).toBe('');
      // Somebody's own extension, which is not there.
      const config = new KubeConfig();
      config.loadFromFile(kubeconfig);
      await config.makeApiClient(CustomObjectsApi).createClusterCustomObject({
        group: 'runtime.cluster.x-k8s.io',
        version: 'v1beta2',
        plural: 'extensionconfigs',
        body: {
          apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
          kind: 'ExtensionConfig',
          metadata: { name: 'own' },
          spec: { clientConfig: { url: 'https://127.0.0.1:1' } },
        },
      });
      await kubectl('wait', 'ext', '--all', '--for=condition=Discovered=False', '--timeout=30s');
    } finally {
      stop.abort();
      expect(await ended).toBe(0);
    }
    const alone = start(['--no-controller']);
    try {
      const kubeconfig = await ready(alone.output);
      const kubectl = (...args: string[]) =>
        promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
      await kubectl('wait', '--for=create', '-n', 'sample-extension', 'deployment/sample-extension', '--timeout=30s');
      const [resource, name] = ['deployment', 'sample-extension'];
      await kubectl('-n', 'sample-extension', 'rollout', 'status', resource, name, '--timeout=30s');
      expect(await kubectl('get', 'ext', 'sample-extension', '-o', 'jsonpath={.status}')).toBe('');
    } finally {
      alone.stop.abort();
      expect(await alone.ended).toBe(0);
    }
  });
});
