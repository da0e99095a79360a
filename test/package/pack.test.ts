import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { hookNames } from '../../src/extension/scaffold/index.ts';
import { review, send, validate } from '../server/running.ts';
import { needs } from '../support/needs.ts';
import { findNode22, findTypeScript5 } from './from-registry.ts';
import { type Installed, installedPackages, linkPackages } from './installed.ts';
import { findOldNode } from './old-node.ts';
import { projectFolder, run, runWell } from './tree.ts';

let installed: Installed;
/** The main file of the installed program. */
let main: string;

beforeAll(async () => {
  installed = await installedPackages();
  main = join(installed.program, 'node_modules/extensionconfig-webhook/main.js');
}, 300_000);

/** A new folder beside the packages that a consumer has installed. */
function folderIn(consumer: string, name: string): string {
  const folder = join(consumer, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function bytesOf(folder: string): number {
  return globSync('**', { cwd: folder })
    .map((path) => statSync(join(folder, path)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}

test.each([
  { name: 'extensionconfig-webhook', consumer: 'program', packedMB: 3, installedMB: 10 },
  { name: 'cluster-api-extension', consumer: 'sdk', packedMB: 1.5, installedMB: 6 },
] as const)('$name is one package, and small', ({ name, consumer, packedMB, installedMB }) => {
  const modules = join(installed[consumer], 'node_modules');
  expect(readdirSync(modules).filter((entry) => !entry.startsWith('.'))).toEqual([name]);
  const { version } = installed;
  expect(statSync(join(installed.packed, `${name}-${version}.tgz`)).size).toBeLessThan(packedMB * 1e6);
  expect(bytesOf(modules)).toBeLessThan(installedMB * 1e6);
  const described = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect(described).toMatchObject({ version, engines: { node: '>=22' } });
  expect(described).not.toHaveProperty('dependencies');
});

test.each([
  { name: 'extensionconfig-webhook', consumer: 'program', has: ['express', 'pino', 'node-forge', 'commander'] },
  { name: 'cluster-api-extension', consumer: 'sdk', has: ['ajv-formats', 'pino', 'undici'] },
] as const)('$name names what is bundled: licences, and a bill of materials', ({ name, consumer, has }) => {
  const folder = join(installed[consumer], 'node_modules', name);
  const licences = readFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const { bomFormat, metadata, components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
    bomFormat: string;
    metadata: { component: object };
    components: { name: string }[];
  };
  expect(bomFormat).toBe('CycloneDX');
  expect(metadata.component).toMatchObject({ name, purl: expect.stringContaining(`pkg:npm/${name}@`) });
  const named = components.map((component) => component.name);
  for (const library of has) {
    expect(licences).toContain(`Name: ${library}\n`);
    expect(named).toContain(library);
  }
});

test('nothing of the development is packed, and every path of a module is one of the package', () => {
  const folder = join(installed.program, 'node_modules/extensionconfig-webhook');
  expect(
    readdirSync(folder)
      .filter((path) => !/\.(js|js\.map|d\.ts)$/.test(path))
      .toSorted(),
  ).toEqual([
    'LICENSE',
    'README.md',
    'THIRD-PARTY-LICENSES.txt',
    'assets',
    'bin',
    'chunks',
    'commit',
    'manifests',
    'package.json',
    'sbom.cdx.json',
    'templates',
  ]);
  for (const chunk of globSync('**/*.js', { cwd: folder })) {
    expect(readFileSync(join(folder, chunk), 'utf8').includes(projectFolder), chunk).toBe(false);
  }
  for (const map of globSync('**/*.js.map', { cwd: folder })) {
    const { sources } = JSON.parse(readFileSync(join(folder, map), 'utf8')) as { sources: string[] };
    expect(
      sources.filter((source) => !existsSync(join(projectFolder, source))),
      map,
    ).toEqual([]);
  }
});

const oldNode = findOldNode();

test('the code of an extension is readable: Node.js prints lines of it, and names, when a program does not start', () => {
  const folder = join(installed.sdk, 'node_modules/cluster-api-extension');
  const chunks = globSync('{*,chunks/*}.js', { cwd: folder });
  const code = chunks.map((chunk) => readFileSync(join(folder, chunk), 'utf8')).join('\n');
  expect(code).toMatch(/HandlersError = class extends Error \{$/m);
  const own = JSON.parse(readFileSync(join(folder, 'index.js.map'), 'utf8')) as {
    sources: string[];
    sourcesContent?: string[];
  };
  expect(own.sourcesContent).toHaveLength(own.sources.length);
});

test('each entry point names an outdated Node.js', needs('a Node.js before 22', oldNode !== undefined), async () => {
  for (const [consumer, name] of [
    ['program', 'extensionconfig-webhook'],
    ['sdk', 'cluster-api-extension'],
  ] as const) {
    const { exports } = JSON.parse(
      readFileSync(join(installed[consumer], 'node_modules', name, 'package.json'), 'utf8'),
    ) as { exports: object };
    const entries = Object.keys(exports).filter((path) => path !== './package.json');
    // Imports of what an older Node.js lacks by name would fail before that.
    const code = `for (const path of ${JSON.stringify(entries)}) {
  await import('${name}' + path.slice(1)).catch(({ message }) => console.log(message));
}`;
    const lines = await runWell(installed[consumer], String(oldNode), ['--input-type=module', '--eval', code]);
    expect(lines.trimEnd().split('\n')).toEqual(
      entries.map(() => expect.stringMatching(/^Node\.js 22 or newer is needed, and this is Node\.js v/)),
    );
  }
});

test('the command works from the folder where it is installed', async () => {
  const bin = join(installed.program, 'node_modules/.bin');
  const program = join(bin, 'extensionconfig-webhook');
  expect(await runWell(installed.program, program, ['--version'])).toMatch(
    /^extensionconfig-webhook \d\S+ \(.*Node\.js v/,
  );
  expect(await runWell(installed.program, join(bin, 'kubectl-extensionconfig'), ['--help'])).toContain(
    'Usage: kubectl extensionconfig',
  );
  const { code, stderr } = await run(installed.program, program, ['rules', '--no-such-flag']);
  expect(code).toBe(2);
  expect(stderr).toContain('--no-such-flag');
});

test('errors have their names, though the code of the program is not readable', async () => {
  const code = "import { NotKnown } from 'extensionconfig-webhook/plan'; console.log(String(new NotKnown('why')));";
  const printed = await runWell(installed.program, process.execPath, ['--input-type=module', '--eval', code]);
  expect(printed).toBe('NotKnown: why\n');
});

test('nothing else can be imported: internals may change', async () => {
  const { code, stderr } = await run(installed.program, process.execPath, [
    '--input-type=module',
    '--eval',
    "await import('extensionconfig-webhook/main.js')",
  ]);
  expect(code).not.toBe(0);
  expect(stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
});

const node22 = findNode22();

describe.each([
  ['the Node.js of this test', process.execPath],
  ['Node.js 22', node22],
] as const)('with %s', (name, node) => {
  const isThere = needs(name, node !== undefined);
  const samples = join(projectFolder, 'manifests/samples');

  /** Starts a command of the installed program; it is ended with the test. */
  function start(...args: string[]): { child: ChildProcess; printed: (text: RegExp) => Promise<RegExpExecArray> } {
    const child = spawn(String(node), [main, ...args], {
      cwd: installed.program,
      env: { PATH: process.env.PATH, HOME: inject('runFolder') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    return {
      child,
      printed: async (text) => {
        await vi.waitUntil(() => text.test(output), { timeout: 60_000, interval: 20 });
        return text.exec(output) as RegExpExecArray;
      },
    };
  }

  test('lint finds the problems of a file', isThere, async () => {
    const { code, stdout } = await run(samples, String(node), [main, 'lint', 'bad-url.yaml']);
    expect(stdout).toContain('bad-url.yaml:');
    expect(code).toBe(1);
  });

  test('serve answers reviews, large ones in their thread, and ends on SIGTERM', isThere, async () => {
    const { child, printed } = start(
      ...['serve', '--self-signed', '--feature-gates=RuntimeSDK=true', '--host=127.0.0.1', '--port=0'],
      ...['--health-port=0'],
    );
    const [, port] = await printed(/"webhookPort":(\d+)/);
    const trusting = { rejectUnauthorized: false };
    expect((await send(Number(port), validate, review('a'), trusting)).code).toBe(200);
    expect((await send(Number(port), validate, review('a').padEnd(200_000), trusting)).code).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('certs bootstrap runs against the sandbox', { ...isThere, timeout: 120_000 }, async () => {
    const kubeconfig = join(installed.program, `kubeconfig-${basename(String(node))}-${process.pid}`);
    const { child, printed } = start('sandbox', '--write', kubeconfig);
    await printed(/bad-target\.yaml/);
    const bootstrap = ['certs', 'bootstrap', '--kubeconfig', kubeconfig, '--namespace', 'default'];
    expect(await runWell(installed.program, String(node), [main, ...bootstrap])).toContain('ca');
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

const typeScript5 = findTypeScript5();

/** Programs that use the packages as a library, by name, with the consumer that has the package. */
const programs = {
  library: [
    'program',
    `
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
process.stdout.write(JSON.stringify(result));
`,
  ],
  client: [
    'sdk',
    `
import { createServer } from 'node:http';
import { createClient } from 'cluster-api-extension/client';
import { hooks, messageProblem, sampleRequest } from 'cluster-api-extension/hooks';

const client = createClient({ extensions: [], namespaceLabels: async () => ({}) });
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
const problems = messageProblem(hooks.GeneratePatches, 'request', sampleRequest(hooks.GeneratePatches)) ?? [];
process.stdout.write(JSON.stringify({ seconds, problems, wrong: typeof wrong, untyped: typeof untyped, server: typeof createServer }));
await client.close();
`,
  ],
  surface: [
    'sdk',
    `
import * as sdk from 'cluster-api-extension';
import * as client from 'cluster-api-extension/client';
import * as hooks from 'cluster-api-extension/hooks';
import * as testing from 'cluster-api-extension/testing';
import * as topology from 'cluster-api-extension/topology';

const handlers = [sdk.handler('BeforeClusterCreate', { name: 'hold', handle: (_request, { answer }) => answer.done() })];
const { response } = await testing.callHandler(handlers[0]!, testing.requestFor('BeforeClusterCreate'));
const all = { sdk, client, hooks, testing, topology };
process.stdout.write(JSON.stringify({
  status: (response as { status?: string } | undefined)?.status,
  names: Object.fromEntries(Object.entries(all).map(([name, module]) => [name, Object.keys(module).length])),
}));
`,
  ],
} as const satisfies Record<string, readonly ['program' | 'sdk', string]>;

describe('as a library', () => {
  const fileOf = (name: keyof typeof programs) => join(folderIn(installed[programs[name][0]], name), 'main.ts');
  const names = Object.keys(programs) as (keyof typeof programs)[];
  /** The folder of a project with all programs. */
  let project: string;

  beforeAll(() => {
    for (const name of names) {
      writeFileSync(fileOf(name), programs[name][1]);
    }
    const compilerOptions = {
      target: 'es2024',
      lib: ['es2024'],
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      types: ['node'],
      typeRoots: [join(projectFolder, 'node_modules/@types')],
      noEmit: true,
    };
    project = folderIn(inject('runFolder'), 'programs');
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: names.map(fileOf) }));
  });

  test('every declaration file of both packages is checked, and the programs with them', async () => {
    expect(await runWell(project, join(projectFolder, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('');
  });

  test('TypeScript 5.9 accepts them, too', needs('TypeScript 5.9', typeScript5 !== undefined), async () => {
    const compiler = String(typeScript5);
    expect(await runWell(project, process.execPath, [compiler, '--version'])).toContain('5.9');
    expect(await runWell(project, process.execPath, [compiler, '-p', '.'])).toBe('');
  });

  /** What a program prints, which is JSON. */
  const printed = async (name: keyof typeof programs): Promise<unknown> =>
    JSON.parse(await runWell(dirname(fileOf(name)), process.execPath, ['main.ts']));

  test('rules and conversion run', async () => {
    expect(await printed('library')).toEqual({
      fields: ['spec.clientConfig.url'],
      rules: expect.any(Number),
      wrong: 'function',
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    });
  });

  test('hooks and client run', async () => {
    expect(await printed('client')).toEqual({
      seconds: 0,
      problems: [],
      wrong: 'function',
      untyped: 'function',
      server: 'function',
    });
  });

  test('the whole surface of the SDK can be imported', async () => {
    const { status, names } = (await printed('surface')) as { status: string; names: Record<string, number> };
    expect(status).toBe('Success');
    expect(Object.values(names).every((count) => count > 0)).toBe(true);
  });
});

test('the OpenAPI page can be created from the package alone', async () => {
  expect(await runWell(installed.program, process.execPath, [main, 'openapi', '--output', 'html'])).toContain(
    'OpenAPI Explorer',
  );
});

test('a project from new-extension is type-checked, tested, started and discovered', {
  timeout: 300_000,
}, async () => {
  const folder = folderIn(installed.program, 'projects');
  const program = join(installed.program, 'node_modules/.bin/extensionconfig-webhook');
  await runWell(folder, program, [
    ...['new-extension', 'lab', '--hooks', hookNames.join(','), '--packages', installed.packed],
  ]);
  const project = join(folder, 'lab');
  linkPackages(installed, project);
  expect(await runWell(project, 'npm', ['test'])).toMatch(/fail 0\n(.*\n)*?.*skipped 2\n/);
  await runWell(project, program, [...['certs', 'bootstrap', '--cert-dir', 'certificates', '--dns-name', 'localhost']]);
  // The image: the files that .dockerignore lets through, with the SDK alone.
  const image = folderIn(installed.sdk, 'lab-image');
  const allowed = readFileSync(join(project, '.dockerignore'), 'utf8').match(/(?<=^!).+$/gm) ?? [];
  for (const path of allowed.filter((one) => one !== 'package-lock.json')) {
    cpSync(join(project, path), join(image, path), { recursive: true });
  }
  expect(existsSync(join(image, 'src/main.ts'))).toBe(true);
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: image,
    env: {
      ...{ PATH: process.env.PATH, NODE_ENV: 'production', CERT_DIR: join(project, 'certificates') },
      ...{ HOST: '127.0.0.1', PORT: '0', HEALTH_PORT: '0' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
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
  writeFileSync(join(folder, 'lab.json'), JSON.stringify(config));
  expect(await runWell(folder, program, ['discover', '-f', 'lab.json'])).toContain('lab: Discovered; 16 handlers');
  expect(await runWell(folder, program, ['lint', join(project, 'manifests')])).toContain('0 errors, 0 warnings');
  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(0);
});
