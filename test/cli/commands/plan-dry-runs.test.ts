import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, loadKubeConfig } from '../../../src/kubernetes/client/index.ts';
import { type JsonObject, nameOf, objectAt, objectsAt, textAt } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import type { Plan } from '../../../src/topology/index.ts';
import { readManifests } from '../../kubernetes/manifests/kustomization.ts';
import { runProgram } from './io.ts';
import { type Received, refusal, startProxy, store } from './live-cluster.ts';
import { list, named } from './planning.ts';

const folder = mkdtempSync(join(tmpdir(), 'plan-dry-runs-'));
const { before } = named('upgrade-1.35');
const ended = new AbortController();
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  await store(connect(await loadKubeConfig({ kubeconfig }), ended.signal), before);
});
afterAll(async () => {
  ended.abort();
  rmSync(folder, { recursive: true });
  await sandbox.stop();
});

const writesIn = (received: readonly Received[]) => received.filter(({ method }) => method !== 'GET');
const found = (kind: string, name?: string): JsonObject =>
  structuredClone(
    before.find((object) => object.kind === kind && (name === undefined || nameOf(object) === name)) as JsonObject,
  );

/** A plan against an API server that answers some requests itself. */
async function planned(
  args: readonly string[],
  answer?: (received: Received) => ReturnType<typeof refusal> | undefined,
) {
  const { file, received } = await startProxy(sandbox, folder, answer);
  const given = ['--kubeconfig', file, '--cluster-api-version', 'v1.14', '-o', 'json', ...args];
  const { stdout, stderr, code } = await runProgram(['plan', ...given]);
  const [cluster] = (JSON.parse(stdout) as Plan).clusters;
  const verdicts = [...new Set(cluster?.groups.map(({ verdict }) => verdict))];
  return { writes: writesIn(received), verdicts, problems: cluster?.problems.map(({ text }) => text), stderr, code };
}

/** What a user wrote: an object without what an API server sets. */
function manifest(object: JsonObject): JsonObject {
  const { name = '', namespace = '' } = objectAt(object, 'metadata');
  const { status: _status, ...rest } = object;
  return { ...rest, metadata: { name, namespace } };
}

function file(name: string, ...objects: readonly JsonObject[]): string {
  const path = join(folder, name);
  writeFileSync(path, list(objects));
  return path;
}

/** The class with another template for its first workers, which is as the one before but for a field. */
function rotated(): JsonObject[] {
  const fleet = manifest(found('ClusterClass', 'fleet'));
  const [workerClass] = objectsAt(fleet, 'spec', 'workers', 'machineDeployments');
  const reference = objectAt(workerClass, 'infrastructure', 'templateRef');
  const template = manifest(found(textAt(reference, 'kind'), textAt(reference, 'name')));
  reference.name = 'another';
  objectAt(template, 'metadata').name = 'another';
  Object.assign(objectAt(template, 'spec', 'template', 'spec'), { size: 'large' });
  return [fleet, template];
}

const isWriteOf = (plural: string) => (received: Received) =>
  received.method !== 'GET' && received.path.includes(`/${plural}`);

describe('nothing is written', () => {
  test.each([
    ['a version', ['--set-version', 'v1.35.0']],
    ['a class and a template', ['-f', file('rotated.yaml', ...rotated())]],
    ['server-side apply', ['-f', file('applied.yaml', ...rotated()), '--field-manager', 'flux']],
  ])('%s: every request that is not a GET is a dry run', async (_name, args) => {
    const { writes, verdicts } = await planned(args);
    expect(verdicts).toContain('replaced');
    expect(writes.length).toBeGreaterThan(0);
    expect(writes.filter(({ path }) => new URL(path, 'https://a').searchParams.get('dryRun') !== 'All')).toEqual([]);
  });

  test('--dry-run none sends nothing', async () => {
    expect((await planned(['--set-version', 'v1.35.0', '--dry-run', 'none'])).writes).toEqual([]);
  });
});

describe('objects of users', () => {
  const provisioning =
    'admission webhook "validation.cluster.cluster.x-k8s.io" denied the request: Cluster.cluster.x-k8s.io "f1" is invalid: spec.topology.version: Invalid value: "v1.35.0": version cannot be changed: current Cluster.spec.topology.version 1.34.0 is being rolled out';

  test.each([422, 403])('what a webhook refuses with %i, in its words', async (code) => {
    const result = await planned(['--set-version', 'v1.35.0'], (received) =>
      isWriteOf('clusters/')(received) ? refusal(code, provisioning) : undefined,
    );
    expect(result).toMatchObject({
      verdicts: ['refused'],
      problems: [`the API server refuses Cluster default/f1: ${provisioning}`],
      code: 1,
      stderr: '',
    });
  });

  test('an edit is a merge patch, unknown fields are refused', async () => {
    const { writes } = await planned(['--set-version', 'v1.35.0']);
    expect(writes.find(isWriteOf('clusters/'))).toMatchObject({
      method: 'PATCH',
      type: 'application/merge-patch+json',
      path: expect.stringContaining('/f1?dryRun=All&fieldValidation=Strict'),
      body: { metadata: { name: 'f1', namespace: 'default' }, spec: { topology: { version: 'v1.35.0' } } },
    });
  });

  test("--field-manager applies on the server's side", async () => {
    const objects = rotated();
    const { writes } = await planned(['-f', file('flux.yaml', ...objects), '--field-manager', 'flux']);
    expect(writes.find(isWriteOf('clusterclasss/fleet'))).toMatchObject({
      type: 'application/apply-patch+yaml',
      path: expect.stringContaining('fieldManager=flux&force=true'),
      body: objects[0],
    });
  });

  test('the answer is what is stored', async () => {
    const cluster = found('Cluster');
    const { verdicts, stderr } = await planned(['--set-version', 'v1.35.0'], (received) =>
      isWriteOf('clusters/')(received) ? { code: 200, body: cluster } : undefined,
    );
    expect({ verdicts, stderr }).toEqual({ verdicts: ['unchanged'], stderr: '' });
  });

  test('a Cluster is not judged by the class that is written with it', async () => {
    const cluster = manifest(found('Cluster'));
    Object.assign(objectAt(cluster, 'spec', 'topology'), { version: 'v1.35.0' });
    const { writes, stderr } = await planned(['-f', file('both.yaml', ...rotated(), cluster)]);
    expect(writes.filter(isWriteOf('clusterclasss/'))).toHaveLength(1);
    expect(writes.filter(isWriteOf('clusters/'))).toEqual([]);
    expect(stderr).toContain('plan: no dry run of Cluster default/f1: the API server would judge by the class');
  });
});

describe('where it may not be asked', () => {
  test('each kind is tried once, and said on one line; what is computed stays', async () => {
    const message = 'it is forbidden: User "guest" cannot patch resource at the cluster scope';
    const { writes, verdicts, stderr } = await planned(['--set-version', 'v1.35.0'], ({ method }) =>
      method === 'GET' ? undefined : refusal(403, message),
    );
    const plurals = writes.map(({ path }) => path.split('/').at(-2));
    expect(new Set(plurals).size).toBe(plurals.length);
    expect(verdicts).toEqual(['replaced']);
    expect(stderr).toMatch(
      /^plan: no dry runs of clusters\.cluster\.x-k8s\.io, .*the permission to patch clusters.*\n$/,
    );
  });

  test('an answer that is none is said, and the plan is made', async () => {
    const { verdicts, stderr } = await planned(['--set-version', 'v1.35.0'], (received) =>
      isWriteOf('clusters/')(received) ? { code: 200, body: [] } : undefined,
    );
    expect(verdicts).toEqual(['replaced']);
    expect(stderr).toMatch(/^plan: no dry run of clusters\.cluster\.x-k8s\.io: .* is not a JSON object.*\n$/);
  });

  test('a webhook with side effects refuses nothing', async () => {
    const message = 'admission webhook "a.example.com" does not support dry run';
    const { verdicts, stderr } = await planned(['--set-version', 'v1.35.0'], (received) =>
      isWriteOf('clusters/')(received) ? refusal(400, message) : undefined,
    );
    expect(verdicts).toEqual(['replaced']);
    expect(stderr).toContain(`plan: no dry run of clusters.cluster.x-k8s.io: ${message}`);
  });
});

describe('what the topology controller would write', () => {
  const args = ['-f', file('template.yaml', ...rotated())];

  test('a template is tried under its name with the annotation, then made under another one', async () => {
    const { writes } = await planned(args);
    const ofWorkers = writes.filter(
      ({ path, body }) => path.includes('fieldManager=capi-topology') && body.kind === 'DevMachineTemplate',
    );
    const marks = ofWorkers.map(
      ({ body }) => objectAt(body, 'metadata', 'annotations')['topology.cluster.x-k8s.io/dry-run'],
    );
    expect(marks.slice(0, 2)).toEqual(['', undefined]);
    const [tried, made] = ofWorkers;
    expect(
      before.some((object) => object.kind === 'DevMachineTemplate' && nameOf(object) === nameOf(tried!.body)),
    ).toBe(true);
    expect(nameOf(made!.body)).not.toBe(nameOf(tried!.body));
  });

  test.each([
    ['the trial', true],
    ['the creation', false],
  ])('what is refused of %s stops Cluster API', async (_name, isTrial) => {
    const { verdicts, problems, code } = await planned(args, ({ path, body }) =>
      path.includes('fieldManager=capi-topology') &&
      body.kind === 'DevMachineTemplate' &&
      'topology.cluster.x-k8s.io/dry-run' in objectAt(body, 'metadata', 'annotations') === isTrial
        ? refusal(422, 'size is immutable')
        : undefined,
    );
    expect(verdicts).toContain('stopped');
    expect(verdicts).not.toContain('replaced');
    expect(problems?.[0]).toMatch(/^the API server refuses DevMachineTemplate .*: size is immutable$/);
    expect(code).toBe(1);
  });

  test('only the fields that it owns are sent', async () => {
    const { writes } = await planned(['--set-version', 'v1.35.0']);
    const sent = writes.find(
      ({ path, body }) => path.includes('fieldManager=capi-topology') && body.kind === 'KubeadmControlPlane',
    );
    const stored = found('KubeadmControlPlane');
    const [own, all] = [sent!.body, stored].map((object) => Object.keys(objectAt(object, 'spec')).sort());
    expect(own).not.toEqual(all);
    expect(all).toEqual(expect.arrayContaining(own!));
    expect(objectAt(sent!.body, 'spec')).toMatchObject({ version: 'v1.35.0' });
    expect(nameOf(sent!.body)).toBe(nameOf(stored));
  });

  /** The class with another field for the infrastructure of its Clusters. */
  function ofInfrastructure(): string {
    const fleet = manifest(found('ClusterClass', 'fleet'));
    const reference = objectAt(fleet, 'spec', 'infrastructure', 'templateRef');
    const template = manifest(found(textAt(reference, 'kind'), textAt(reference, 'name')));
    reference.name = 'another';
    objectAt(template, 'metadata').name = 'another';
    Object.assign(objectAt(template, 'spec', 'template', 'spec'), { region: 'b' });
    return file('infrastructure.yaml', fleet, template);
  }

  test.each([
    ['the infrastructure of the Cluster', 'DevCluster', () => ['-f', ofInfrastructure()]],
    ['the control plane', 'KubeadmControlPlane', () => ['--set-version', 'v1.35.0']],
  ])('what is refused of %s stops all groups, once', async (_name, kind, change) => {
    const isOfKind = ({ path, body }: Received) => path.includes('fieldManager=capi-topology') && body.kind === kind;
    const { verdicts, problems, writes } = await planned(change(), (received) =>
      isOfKind(received) ? refusal(422, 'it is immutable') : undefined,
    );
    expect(verdicts).toEqual(['stopped']);
    expect(problems).toEqual([
      expect.stringMatching(new RegExp(`^the API server refuses ${kind} .*: it is immutable$`)),
    ]);
    expect(writes.filter(isOfKind)).toHaveLength(1);
  });
});

test('the policy of dry runs matches resources as an API server allows: */* stands alone', () => {
  const [policy] = readManifests('manifests/plan/dry-run/policy.yaml');
  const rules = objectsAt(policy, 'spec', 'matchConstraints', 'resourceRules');
  expect(rules.map(({ resources }) => resources)).toEqual([['*/*']]);
});
