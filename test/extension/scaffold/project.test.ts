import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { FailureError } from '../../../src/base/index.ts';
import { checkExtensionConfig } from '../../../src/exports/rules.ts';
import { addHandlers, hookNames, writeProject } from '../../../src/extension/scaffold/index.ts';
import { startSandbox } from '../../../src/sandbox/index.ts';
import { needs } from '../../support/needs.ts';

const options = {
  name: 'backups',
  hooks: hookNames,
  certificates: 'cert-manager',
  packages: { sdk: '^0.1.0', program: '^0.1.0' },
} as const;

type Manifest = {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: object };
  spec: {
    template: { spec: { containers: { image: string }[] } };
    jobTemplate?: { spec: { template: { spec: object } } };
    replicas: number;
    dnsNames?: string[];
    secretName?: string;
    clientConfig: { service: { name: string; namespace: string; port: number } };
  };
};

function manifestsOf(files: ReadonlyMap<string, string>): Manifest[] {
  return [...files]
    .filter(([path]) => path.startsWith('manifests/') && !path.endsWith('kustomization.yaml'))
    .flatMap(([path, text]) =>
      parseAllDocuments(text).map((document) => {
        expect(document.errors, path).toEqual([]);
        return document.toJS() as Manifest;
      }),
    );
}

/** The files of a project, by their paths. */
function projectFiles(given: Parameters<typeof writeProject>[1]): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  const paths = writeProject(folder, given);
  const files = new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
  rmSync(folder, { recursive: true });
  return files;
}

test('no placeholder remains, and each hook has a file', () => {
  const files = projectFiles(options);
  for (const [path, text] of files) {
    // Those of a workflow have spaces.
    expect(text, path).not.toMatch(/\{\{[a-z]+\}\}/);
  }
  expect([...files.keys()]).toEqual(
    expect.arrayContaining(['.gitignore', '.dockerignore', '.npmrc', 'manifests/certificate.yaml', 'src/variables.ts']),
  );
  for (const name of hookNames) {
    const variable = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    const exported = new RegExp(`^export (const|\\{) ${variable} `, 'm');
    expect(
      [...files.values()].some((text) => exported.test(text)),
      name,
    ).toBe(true);
  }
});

test('no handler logs a field that the log of a call has already: JSON would have the name twice', () => {
  const handlers = [...projectFiles(options)].filter(([path]) => path.startsWith('src/handlers/'));
  const logged = handlers.flatMap(([, text]) => [...text.matchAll(/log\.info\(\{ (\w+)/g)].map(([, name]) => name));
  expect(logged.length).toBeGreaterThan(5);
  expect(logged.filter((name) => ['hook', 'handler', 'cluster'].includes(name ?? ''))).toEqual([]);
});

test.each(['cert-manager', 'bootstrap'] as const)('the manifests match: %s', (certificates) => {
  const files = projectFiles({ ...options, certificates });
  const listed = (
    parseAllDocuments(files.get('manifests/kustomization.yaml') ?? '')[0]?.toJS() as { resources: string[] }
  ).resources;
  expect(listed.map((file) => `manifests/${file}`).sort()).toEqual(
    [...files.keys()].filter((path) => /^manifests\/(?!kustomization)[^/]+$/.test(path)).sort(),
  );
  const manifests = manifestsOf(files);
  const one = (kind: string, name = 'backups') =>
    manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  expect(one('Deployment')?.spec.replicas).toBe(2);
  for (const kind of ['Service', 'NetworkPolicy', 'PodDisruptionBudget', 'ServiceAccount']) {
    expect(one(kind), kind).toBeDefined();
  }
  const service = one('Service')?.metadata;
  expect(one('ExtensionConfig')?.spec.clientConfig.service).toEqual({
    name: service?.name,
    namespace: service?.namespace,
    port: 443,
  });
  if (certificates === 'cert-manager') {
    expect(one('Certificate')?.spec).toMatchObject({
      dnsNames: ['backups.backups-system.svc'],
      secretName: 'backups-tls',
    });
  } else {
    expect(one('Job', 'backups-certificates')).toBeDefined();
    expect(one('CronJob', 'backups-certificates')).toBeDefined();
  }
  expect(checkExtensionConfig(one('ExtensionConfig'))).toEqual([]);
  // Without it, the kubelet could not tell that the user is not root.
  expect(files.get('Dockerfile')).toMatch(/^USER \d+:\d+$/m);
  // Management clusters often have only control plane nodes, and some have Windows nodes.
  const pods = manifests
    .filter(({ kind }) => ['CronJob', 'Deployment', 'Job'].includes(kind))
    .map(({ spec }) => (spec.jobTemplate?.spec ?? spec).template.spec);
  expect(pods).toHaveLength(certificates === 'bootstrap' ? 3 : 1);
  for (const pod of pods) {
    expect(pod).toMatchObject({
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
    });
    // OpenShift's SCC restricted-v2 refuses pods that choose their user or group.
    expect(pod).toHaveProperty('securityContext', {
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
  }
});

test(
  'with its components, pods have a token, and permission for what createJobs requests, and ask for client certificates',
  needs('kubectl'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'project-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const project = join(folder, 'backups');
    writeProject(project, options);
    const build = () =>
      parseAllDocuments(execFileSync('kubectl', ['kustomize', join(project, 'manifests')], { encoding: 'utf8' })).map(
        (document) => document.toJS() as Manifest & { automountServiceAccountToken?: boolean; rules?: object[] },
      );
    let manifests = build();
    const one = (kind: string) => manifests.find((manifest) => manifest.kind === kind);
    expect([one('ServiceAccount')?.automountServiceAccountToken, one('Role')]).toEqual([false, undefined]);
    const file = join(project, 'manifests/kustomization.yaml');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/^# components:\n(# {3}- .*\n)+/m, (lines) => lines.replaceAll('# ', '')),
    );
    manifests = build();
    expect(one('ServiceAccount')).not.toHaveProperty('automountServiceAccountToken');
    expect(one('Deployment')?.spec.template.spec).not.toHaveProperty('automountServiceAccountToken');
    expect(one('RoleBinding')?.metadata).toEqual({ name: 'backups', namespace: 'backups-system' });
    // The requests of the test of its whole life.
    expect(one('Role')?.rules).toEqual([
      { apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'get', 'list', 'patch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
    ]);
    const pod = one('Deployment')?.spec.template.spec;
    expect(pod).toMatchObject({
      containers: [
        {
          env: expect.arrayContaining([{ name: 'CLIENT_CA_FILE', value: '/client-ca/ca.crt' }]),
          volumeMounts: expect.arrayContaining([{ name: 'client-ca', mountPath: '/client-ca', readOnly: true }]),
        },
      ],
      volumes: expect.arrayContaining([
        { name: 'client-ca', secret: { secretName: 'backups-client-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      ]),
    });
  },
);

test.each(['cert-manager', 'bootstrap'] as const)(
  "what clusterctl installs follows the contract of Cluster API's book for providers: %s",
  needs('kubectl'),
  (certificates) => {
    const folder = mkdtempSync(join(tmpdir(), 'project-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const project = join(folder, 'backups');
    writeProject(project, { ...options, certificates });
    // As npm run does, which takes four times as long as kubectl.
    const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
      scripts: { components: string };
    };
    execFileSync('sh', ['-c', scripts.components], { cwd: project });
    const text = readFileSync(join(project, 'clusterctl/runtime-extension-components.yaml'), 'utf8');
    // clusterctl would replace variables.
    expect(text).not.toContain('${');
    const components = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    expect(components.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)).toEqual([
      'backups-system',
    ]);
    for (const { kind, metadata } of components) {
      expect([kind, metadata.namespace]).toEqual([kind, kind === 'Namespace' ? undefined : 'backups-system']);
      expect(metadata.labels).toHaveProperty(['cluster.x-k8s.io/provider'], 'runtime-extension-backups');
    }
    const [deployment, ...others] = components.filter(({ kind }) => kind === 'Deployment');
    expect(others).toEqual([]);
    expect(deployment?.spec.template.spec.containers).toMatchObject([{ name: 'manager' }]);
    expect(components.some(({ kind }) => kind === 'ExtensionConfig')).toBe(false);
    const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };
    const [major, minor] = version.split('.').map(Number);
    expect(parseAllDocuments(readFileSync(join(project, 'clusterctl/metadata.yaml'), 'utf8'))[0]?.toJS()).toEqual({
      apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
      kind: 'Metadata',
      releaseSeries: [{ major, minor, contract: 'v1beta2' }],
    });
  },
);

test('manifests that are applied again are unchanged', needs('kubectl'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const project = join(folder, 'backups');
  writeProject(project, { ...options, certificates: 'bootstrap' });
  const env = { ...process.env, KUBECONFIG: kubeconfig };
  const apply = async (path: string) => {
    const { stdout } = await promisify(execFile)('kubectl', ['apply', '--validate=false', '-k', path], { env });
    return stdout.trim().split('\n');
  };
  await apply(new URL('../../../manifests/crd', import.meta.url).pathname);
  const created = await apply(join(project, 'manifests'));
  expect(created.length).toBeGreaterThan(10);
  expect(await apply(join(project, 'manifests'))).toEqual(
    created.map((line) => line.replace(/ created$/, ' unchanged')),
  );
});

test('a tag releases the image of the Deployment, and what clusterctl installs', () => {
  const files = projectFiles(options);
  const { on, jobs } = parseAllDocuments(files.get('.github/workflows/release.yaml') ?? '')[0]?.toJS() as {
    on: object;
    jobs: { release: { steps: { run?: string }[] } };
  };
  expect(on).toEqual({ push: { tags: ['v*'] } });
  const commands = jobs.release.steps.map(({ run = '' }) => run);
  const [, pattern] = /s#(image:.*?)#/.exec(commands.join('\n')) ?? [];
  expect(files.get('manifests/deployment.yaml')).toMatch(new RegExp(String(pattern)));
  const released =
    commands
      .at(-1)
      ?.split(' ')
      .filter((word) => word.endsWith('.yaml')) ?? [];
  expect(released.filter((path) => !files.has(path))).toEqual(['clusterctl/runtime-extension-components.yaml']);
});

test('patches bring DiscoverVariables, without which Cluster API sends them no variables; others do not', () => {
  const files = (hook: string) => [...projectFiles({ ...options, hooks: [hook] }).keys()];
  const ofVariables = ['src/handlers/discover-variables.ts', 'src/variables.ts'];
  expect(files('GeneratePatches')).toEqual(expect.arrayContaining(ofVariables));
  expect(files('BeforeClusterCreate').filter((path) => ofVariables.includes(path) || path.includes('plan'))).toEqual(
    [],
  );
});

test('a project to which handlers are added has the files of one that began with them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const first = ['BeforeClusterCreate', 'DiscoverVariables'];
  const added = ['GeneratePatches', 'CanUpdateMachine', 'UpdateMachine'];
  const index = 'src/handlers/index.ts';
  const began = projectFiles({ ...options, hooks: [...first, ...added] });
  writeProject(folder, { ...options, hooks: first });
  expect(addHandlers(folder, added)).toEqual([
    'src/handlers/generate-patches.ts',
    'src/handlers/can-update-machine.ts',
    'src/handlers/update-machine.ts',
    'src/in-place.ts',
    'test/cluster.yaml',
    'test/patches.test.ts',
    'test/plan.ts',
    'test/record.ts',
    'test/recorded/answers.json',
    'test/recorded/objects.json',
    index,
  ]);
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  for (const [path, text] of began) {
    // The table of handlers in the README is the author's.
    if (path !== 'README.md' && path !== index) {
      expect(read(path), path).toBe(text);
    }
  }
  // The imports of what was added come first.
  expect(read(index).split('\n').sort()).toEqual(began.get(index)?.split('\n').sort());

  expect(() => addHandlers(folder, ['BeforeClusterDelete', 'GeneratePatches'])).toThrow(
    /generate-patches\.ts exists: the project has this handler$/,
  );
  expect(existsSync(join(folder, 'src/handlers/before-cluster-delete.ts'))).toBe(false);
  expect(() => addHandlers(join(folder, 'src'), ['BeforeClusterDelete'])).toThrow(
    /index\.ts is not there: name the folder/,
  );
  writeFileSync(join(folder, index), 'export const handlers = makeHandlers();');
  expect(() => addHandlers(folder, ['BeforeClusterDelete'])).toThrow(FailureError);
});

test('never overwrites', () => {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const inside = join(folder, 'new/deep');
  expect(writeProject(inside, options)).toContain('src/main.ts');
  expect(readFileSync(join(inside, 'package.json'), 'utf8')).toContain('"name": "backups"');
  expect(() => writeProject(inside, options)).toThrow(FailureError);
  const other = join(folder, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'README.md'), 'mine');
  expect(() => writeProject(other, options)).toThrow('is not empty (README.md)');
  expect(readdirSync(other)).toEqual(['README.md']);
  writeFileSync(join(folder, 'file'), '');
  expect(() => writeProject(join(folder, 'file'), options)).toThrow(/cannot be written: it exists and is not a folder/);
});

test('private keys of development are not added to git', () => {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const project = join(folder, 'lab');
  writeProject(project, options);
  for (const path of [
    '.development/tls.key',
    '.development/extension-config.yaml',
    'certificates/ca.key',
    'certificates/tls.crt',
    'mine.key',
    '.env',
  ]) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), 'secret');
  }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project, encoding: 'utf8' });
  git('init', '--quiet');
  git('add', '--all');
  const added = git('ls-files').trim().split('\n');
  expect(added).toContain('src/main.ts');
  expect(added.filter((path) => /\.(key|crt)$|\.env$|^certificates|^\.development/.test(path))).toEqual([]);
});
