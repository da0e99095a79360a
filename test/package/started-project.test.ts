import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { localhost, makeCertificate, testCa } from '../base/x509/certificates.ts';
import { pairOf } from '../server/running.ts';
import { linkedProject } from './linked-project.ts';

/** Runs a script of a new project's package.json. */
async function start(script: string, env: NodeJS.ProcessEnv, change = (_folder: string): void => {}) {
  const folder = await linkedProject(['BeforeClusterCreate']);
  change(folder);
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const child = spawn('sh', ['-c', `exec ${scripts[script]}`], {
    cwd: folder,
    env: {
      PATH: `${join(process.execPath, '..')}:${process.env.PATH}`,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      NODE_COMPILE_CACHE_PORTABLE: process.env.NODE_COMPILE_CACHE_PORTABLE,
      PORT: '0',
      HEALTH_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: with --watch, Node.js has a child that would outlive it.
    detached: true,
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  onTestFinished(async () => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
    await exited;
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 30_000 });
  const config = join(folder, '.development/extension-config.yaml');
  return { folder, child, exited, output, until, config };
}

describe('a new project', () => {
  test('does not start without certificates, and says what to do', async () => {
    const { exited, output } = await start('start', {});
    expect(await exited).toEqual([1, null]);
    expect(output).toEqual({
      stdout: '',
      stderr: 'lab: CERT_DIR is not set: give a folder with tls.crt and tls.key, or use "npm run dev"\n',
    });
  });

  test('with a wrong definition does not start, and says in which file and line it is', async () => {
    const { exited, output } = await start('start', { CERT_DIR: 'certs' }, (folder) => {
      const file = join(folder, 'src/handlers/before-cluster-create.ts');
      writeFileSync(file, readFileSync(file, 'utf8').replace("handler('BeforeClusterCreate'", "handler('Other'"));
    });
    expect(await exited).toEqual([1, null]);
    expect(output.stderr).toMatch(
      /^lab: "Other" is not a hook: pass one of [\w, ]+\n {4}at src\/handlers\/before-cluster-create.ts:4\n$/,
    );
  });

  test('with CLIENT_CA_FILE, only clients with a certificate of that CA are answered', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'client-ca-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const pair = pairOf(localhost);
    for (const [name, text] of Object.entries({ 'tls.crt': pair.cert, 'tls.key': pair.key, 'ca.crt': testCa.cert })) {
      writeFileSync(join(folder, name), text);
    }
    const { output, until } = await start('start', { CERT_DIR: folder, CLIENT_CA_FILE: join(folder, 'ca.crt') });
    const listening = () => output.stdout.split('\n').find((line) => line.includes('"listening"'));
    await until(() => listening() !== undefined);
    const { extensionPort: port } = JSON.parse(listening() ?? '') as { extensionPort: number };
    const discover = (identity: object) =>
      new Promise<number | undefined>((resolve, reject) =>
        request({ port, host: 'localhost', ca: testCa.cert, method: 'POST', agent: false, ...identity })
          .on('response', ({ statusCode }) => resolve(statusCode))
          .on('error', reject)
          .end('{}'),
      );
    const { cert, key } = makeCertificate({ commonName: 'capi', issuer: testCa });
    expect(await discover({ cert, key, path: '/hooks.runtime.cluster.x-k8s.io/v1alpha1/discovery' })).toBe(200);
    expect(await discover({ path: '/hooks.runtime.cluster.x-k8s.io/v1alpha1/discovery' })).toBe(403);
  });

  test('is developed with a certificate for this machine, restarts when a file changes, and ends with Ctrl-C', async () => {
    const { folder, child, exited, output, until, config } = await start('dev', {});
    const lines = (text: string) => output.stdout.split('\n').filter((line) => line.includes(text));
    await until(() => lines('ExtensionConfig written').length > 0);
    expect(readFileSync(config, 'utf8')).toMatch(/name: lab\n(.*\n)*.*url: "https:\/\/localhost:\d+"\n.*caBundle: \w/);
    expect(JSON.parse(lines('listening')[0] ?? '')).toMatchObject({ host: 'localhost' });
    appendFileSync(join(folder, 'src/handlers/index.ts'), '// Changed.\n');
    await until(() => lines('ExtensionConfig written').length > 1);
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
  });

  test('is debugged with the debugger of Node.js; LOG_LEVEL sets what is logged', async () => {
    const { output, until, config } = await start('debug', { LOG_LEVEL: 'error' });
    await until(() => existsSync(config) && /Debugger listening|Starting inspector/.test(output.stderr));
    expect(output.stdout).not.toContain('listening');
  });
});
