import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { hookNames } from '../../src/extension/scaffold/index.ts';
import { needs } from '../support/needs.ts';
import { installedPackage, projectName } from './installed.ts';
import { findOldNode } from './old-node.ts';
import {
  compiledCode,
  fromRegistry,
  keepingLinks,
  notInLockfile,
  projectFolder,
  run,
  runWell,
  symlinkDependencies,
} from './tree.ts';

let consumer: string;
let packed: string[];
let tarball: string;
let installedProject: string;

// Minutes on a slow machine with an empty npm cache; usually some seconds.
beforeAll(async () => {
  ({ packed, tarball, project: installedProject } = await installedPackage());
  // Inside the folder of the run, so that Node.js finds its compile cache by path.
  consumer = join(inject('runFolder'), 'consumer');
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module', private: true }));
  symlinkSync(join(installedProject, 'node_modules'), join(consumer, 'node_modules'));
}, 300_000);

afterAll(() => {
  if (consumer !== undefined) {
    rmSync(consumer, { recursive: true });
  }
}, 300_000);

test('contains the program and the manifests, and nothing of the development', () => {
  expect(packed).toContain('dist/main.js');
  expect(packed).toContain('dist/exports/rules.d.ts');
  expect(packed).toContain('manifests/base/deployment.yaml');
  expect(packed).toContain('dist/sandbox/writes/kubernetes.proto');
  expect(packed).toContain('dist/sandbox/openapi-documents/openapi-v3.proto');
  expect(packed).toContain('LICENSE');
  expect(
    packed.filter((path) => !/^(bin|dist|manifests|templates)\/|^(package\.json|README\.md|LICENSE)$/.test(path)),
  ).toEqual([]);
  expect(packed).toContain('templates/extension/src/main.ts');
  expect(
    packed.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.startsWith('templates/')),
  ).toEqual([]);
});

const oldNode = findOldNode();

test('each entry point names an outdated Node.js', needs('a Node.js before 24', oldNode !== undefined), async () => {
  const { exports } = JSON.parse(
    readFileSync(join(consumer, 'node_modules/extensionconfig-webhook/package.json'), 'utf8'),
  ) as { exports: object };
  const entries = Object.keys(exports).filter((path) => path !== './package.json');
  // Imports of what an older Node.js lacks by name would fail before that.
  const code = `for (const path of ${JSON.stringify(entries)}) {
  await import('extensionconfig-webhook' + path.slice(1)).catch(({ message }) => console.log(message));
}`;
  const lines = (await runWell(consumer, String(oldNode), ['--input-type=module', '--eval', code]))
    .trimEnd()
    .split('\n');
  expect(lines).toEqual(
    entries.map(() =>
      expect.stringMatching(/^extensionconfig-webhook needs Node\.js 24 or newer, and this is Node\.js v/),
    ),
  );
});

test("contains the library's declaration files with everything they import, and no others", () => {
  const declarations = packed.filter((path) => path.startsWith('dist/') && path.endsWith('.d.ts'));
  const imported = declarations.flatMap((path) => {
    const text = readFileSync(join(consumer, 'node_modules/extensionconfig-webhook', path), 'utf8');
    // Its declarations are many, take a compiler a second to read, and need those of packages that users do not have.
    expect(text, path).not.toContain('@kubernetes/client-node');
    const paths = [...text.matchAll(/(?:from|import\() ?["'](\.[^"']+)\.[jt]s["']/g)].map(([, to]) => `${to}.d.ts`);
    return paths.map((to) => join(dirname(path), to));
  });
  expect(imported.filter((path) => !packed.includes(path))).toEqual([]);
  const own = declarations.filter((path) => !path.startsWith('dist/exports/'));
  expect(own.length).toBeGreaterThan(50);
  expect(own.filter((path) => !imported.includes(path))).toEqual([]);
});

test('the command works from the folder where it is installed', async () => {
  const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as { version: string };
  // What npx finds.
  const bin = join(consumer, 'node_modules/.bin');
  const program = join(bin, 'extensionconfig-webhook');
  expect(await runWell(consumer, program, ['--version'])).toContain(`extensionconfig-webhook ${version} (Node.js`);
  expect(await runWell(consumer, join(bin, 'kubectl-extensionconfig'), ['--help'])).toContain(
    'Usage: kubectl extensionconfig',
  );
  expect(await runWell(consumer, program, ['--help'])).toContain('serve');
  const { code, stderr } = await run(consumer, program, ['rules', '--no-such-flag']);
  expect(code).toBe(2);
  expect(stderr).toContain('--no-such-flag');
});

test('the sandbox starts from an installed package, which includes its manifests', async () => {
  const kubeconfig = join(consumer, 'kubeconfig');
  const program = join(consumer, 'node_modules/extensionconfig-webhook/dist/main.js');
  const child = spawn(process.execPath, [program, 'sandbox', '--write-kubeconfig', kubeconfig], {
    env: { ...process.env, ...keepingLinks },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await vi.waitUntil(() => output.includes('bad-target.yaml'), { timeout: 100_000 });
  expect(readFileSync(kubeconfig, 'utf8')).toContain('https://127.0.0.1:');
  const samples = [...output.matchAll(/ -f '?(.*\.yaml)/g)].map(([, file = '']) => file);
  expect(samples.map((file) => [file, existsSync(file)])).toEqual(samples.map((file) => [file, true]));
  expect(samples).toHaveLength(2);
  child.kill('SIGINT');
  expect((await once(child, 'exit'))[0]).toBe(0);
});

test('rules and conversion work as a library: typed, checked with every declaration file, and running', async () => {
  const file = `
import { convertExtensionConfig } from 'extensionconfig-webhook/conversion';
import { checkExtensionConfig, type Problem, ruleDescriptions } from 'extensionconfig-webhook/rules';

const problems: Problem[] = checkExtensionConfig({
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  kind: 'ExtensionConfig',
  metadata: { name: 'hooks' },
  spec: { clientConfig: { url: 'http://example.com' } },
}, { profile: 'upstream' });
// @ts-expect-error: there is no such profile.
const wrong = () => checkExtensionConfig({}, { profile: 'lax' });
const old = { apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1', kind: 'ExtensionConfig', metadata: { name: 'a' }, spec: {} };
const { apiVersion } = convertExtensionConfig(old, 'v1beta2');
export const result = { fields: problems.map(({ field }) => field), rules: ruleDescriptions.length, wrong: typeof wrong, apiVersion };
declare const process: { stdout: { write(text: string): void } };
process.stdout.write(JSON.stringify(result));
`;
  mkdirSync(join(consumer, 'src'));
  writeFileSync(join(consumer, 'src', 'main.ts'), file);
  writeFileSync(
    join(consumer, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2024',
        lib: ['es2024'],
        module: 'nodenext',
        strict: true,
        skipLibCheck: false,
        preserveSymlinks: true,
        types: [],
        rootDir: 'src',
        outDir: 'out',
      },
      include: ['src'],
    }),
  );
  await runWell(consumer, join(projectFolder, 'node_modules/.bin/tsc'), ['-p', '.']);
  expect(JSON.parse(await runWell(consumer, process.execPath, ['out/main.js']))).toEqual({
    fields: ['spec.clientConfig.url'],
    rules: expect.any(Number),
    wrong: 'function',
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  });
});

test('hooks and client work as a library: typed and running', async () => {
  const file = `
import { createServer } from 'node:http';
import { createClient } from 'extensionconfig-webhook/client';
import { hooks, messageProblems, sampleRequest } from 'extensionconfig-webhook/hooks';

const client = createClient({ namespaceLabels: async () => ({}) });
client.registry.warmUp([]);
// @ts-expect-error: metrics are a registry of prom-client.
const untyped = () => createClient({ metrics: 5 });
const call = () =>
  client.callAllExtensions(hooks.BeforeClusterUpgrade, {
    object: { namespace: 'default', name: 'a' },
    request: { cluster: { spec: {} }, fromKubernetesVersion: 'v1.32.0', toKubernetesVersion: 'v1.33.0' },
  });
const wrong = () =>
  client.callAllExtensions(hooks.BeforeClusterUpgrade, {
    object: { namespace: 'default', name: 'a' },
    // @ts-expect-error: a request has a Cluster.
    request: { fromKubernetesVersion: 'v1.32.0', toKubernetesVersion: 'v1.33.0' },
  });
const result = await call();
const seconds: number = result.ok ? result.response.retryAfterSeconds : -1;
const problems = messageProblems(hooks.GeneratePatches, 'request', sampleRequest(hooks.GeneratePatches), 'strict');
process.stdout.write(JSON.stringify({ seconds, problems, wrong: typeof wrong, untyped: typeof untyped, server: typeof createServer }));
await client.close();
`;
  const folder = join(consumer, 'client');
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(join(folder, 'src', 'main.ts'), file);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2024',
        lib: ['es2024'],
        module: 'nodenext',
        strict: true,
        skipLibCheck: true,
        preserveSymlinks: true,
        types: ['node'],
        typeRoots: [join(projectFolder, 'node_modules/@types')],
        rootDir: 'src',
        outDir: 'out',
      },
      include: ['src'],
    }),
  );
  await runWell(folder, join(projectFolder, 'node_modules/.bin/tsc'), ['-p', '.']);
  expect(JSON.parse(await runWell(folder, process.execPath, ['out/main.js']))).toEqual({
    seconds: 0,
    problems: [],
    wrong: 'function',
    untyped: 'function',
    server: 'function',
  });
});

test('the OpenAPI page can be created from the package alone', async () => {
  const program = join(consumer, 'node_modules/.bin/extensionconfig-webhook');
  const page = await runWell(consumer, program, ['openapi', '--output', 'html']);
  expect(page).toContain('OpenAPI Explorer');
  expect(existsSync(join(consumer, 'node_modules/openapi-explorer'))).toBe(false);
});

test('nothing else can be imported: internals may change', async () => {
  const { code, stderr } = await run(consumer, process.execPath, [
    '--input-type=module',
    '--eval',
    "await import('extensionconfig-webhook/dist/rules/index.js')",
  ]);
  expect(code).not.toBe(0);
  expect(stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
});

test('a project from new-extension can be installed, type-checked, tested, started and discovered', {
  timeout: 300_000,
}, async () => {
  const project = join(consumer, projectName);
  const program = join(consumer, 'node_modules/.bin/extensionconfig-webhook');
  expect(hookNames).toHaveLength(16);
  await runWell(consumer, program, [
    ...['new-extension', projectName, '--hooks', hookNames.join(','), '--package', `file:${tarball}`],
  ]);
  // The project in which the packages were installed.
  expect(readFileSync(join(project, 'package.json'), 'utf8')).toBe(
    readFileSync(join(installedProject, 'package.json'), 'utf8'),
  );
  cpSync(join(installedProject, 'package-lock.json'), join(project, 'package-lock.json'));
  // The lockfile lists the package beside the project.
  symlinkSync(tarball, join(consumer, basename(tarball)));
  symlinkSync(join(installedProject, 'node_modules'), join(project, 'node_modules'));
  expect(await runWell(project, 'npm', ['test'])).toMatch(/pass 31\n(.*\n)*?.*todo 2\n/);
  await runWell(project, join(project, 'node_modules/.bin/extensionconfig-webhook'), [
    ...['certs', 'bootstrap', '--cert-dir', 'certificates', '--dns-name', 'localhost'],
  ]);
  // The image: the files that .dockerignore lets through, installed as the Dockerfile says, without development
  // dependencies.
  const image = join(consumer, 'lab-image');
  const allowed = readFileSync(join(project, '.dockerignore'), 'utf8').match(/(?<=^!).+$/gm) ?? [];
  expect(allowed).toContain('package-lock.json');
  for (const path of allowed) {
    cpSync(join(project, path), join(image, path), { recursive: true });
  }
  const install = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  expect(readFileSync(join(project, 'Dockerfile'), 'utf8')).toContain(
    `COPY package.json package-lock.json ./\nRUN npm ${install.join(' ')}\n`,
  );
  // The package and its dependencies are unpacked already. npm takes a second to say what it would refuse.
  if (fromRegistry) {
    await runWell(image, 'npm', [...install, '--dry-run', '--loglevel=error']);
  }
  expect(notInLockfile(image)).toEqual([]);
  symlinkDependencies(installedProject, image);
  expect(existsSync(join(image, 'node_modules/typescript'))).toBe(false);
  const env = {
    ...{ PATH: process.env.PATH, NODE_ENV: 'production', CERT_DIR: join(project, 'certificates') },
    ...{ HOST: '127.0.0.1', PORT: '0', HEALTH_PORT: '0', ...compiledCode() },
    ...keepingLinks,
  };
  const child = spawn(process.execPath, ['src/main.ts'], { cwd: image, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await vi.waitUntil(() => output.includes('"listening"'), { timeout: 30_000 });
  const port = /"extensionPort":(\d+)/.exec(output)?.[1];
  const caBundle = readFileSync(join(project, 'certificates/ca.crt')).toString('base64');
  const config = {
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    kind: 'ExtensionConfig',
    metadata: { name: 'lab' },
    spec: { clientConfig: { url: `https://localhost:${port}`, caBundle }, namespaceSelector: {} },
  };
  writeFileSync(join(consumer, 'lab.json'), JSON.stringify(config));
  const discovered = await runWell(consumer, program, ['discover', '-f', 'lab.json']);
  expect(discovered).toContain('lab: Discovered; 16 handlers');
  expect(await runWell(consumer, program, ['lint', join(project, 'manifests')])).toContain('0 errors, 0 warnings');
  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(0);
});
