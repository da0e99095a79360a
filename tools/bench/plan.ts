// A plan of many Clusters of one class with 20 patches, half of them Go templates, one of which reads the Cluster's name, from
// files, as a whole process: `npm run bench:plan [-- --clusters 100,1000]`; beside a bare program that reads the same YAML.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { fieldAt, itemsAt, type JsonObject, objectAt, objectsAt, textAt } from '../../src/kubernetes/index.ts';
import { builtProgram, printTable } from './program.ts';
import { addPatches, patchOf } from './twenty-patches.ts';

const { values } = parseArgs({ options: { clusters: { type: 'string', default: '100,1000,10000' } } });

const recording = new URL('../../test/support/fixtures/plan/K-etcd.json.gz', import.meta.url);
const { before } = JSON.parse(gunzipSync(readFileSync(recording)).toString()) as { before: JsonObject[] };

const folder = mkdtempSync(join(tmpdir(), 'bench-plan-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

/** The objects of the recording that a user writes, with 20 patches in the class. */
function classObjects(): JsonObject[] {
  const objects = structuredClone(before).filter((object) => {
    const isCopy = fieldAt(object, 'metadata', 'labels', 'cluster.x-k8s.io/cluster-name') !== undefined;
    return (
      (object.kind === 'ClusterClass' && textAt(object, 'metadata', 'name') === 'fleet') ||
      (textAt(object, 'kind').endsWith('Template') && !isCopy)
    );
  });
  addPatches(
    objectAt(
      objects.find(({ kind }) => kind === 'ClusterClass'),
      'spec',
    ),
  );
  return objects;
}

function clusters(count: number): JsonObject[] {
  const template = before.find(({ kind }) => kind === 'Cluster') ?? {};
  return Array.from({ length: count }, (_, index) => {
    const topology = structuredClone(objectAt(template, 'spec', 'topology'));
    const workers = objectAt(topology, 'workers');
    const [machineDeployment = {}] = objectsAt(workers, 'machineDeployments');
    workers.machineDeployments = [0, 1, 2, 3, 4].map((number) => ({
      ...machineDeployment,
      name: `md-${number}`,
    }));
    const metadata = { name: `cluster-${index}`, namespace: 'default' };
    return { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata, spec: { topology } };
  });
}

const documents = (objects: readonly JsonObject[]) => objects.map((object) => stringify(object)).join('---\n');

/** Runs a program; its CPU and wall time in seconds, and the memory that it had at most, in MB. */
async function measured(
  args: readonly string[],
): Promise<{ seconds: number; cpu: number; memory: number; end: string }> {
  const start = performance.now();
  const report = `process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    process.stderr.write('USED ' + (userCPUTime + systemCPUTime) / 1e6 + ' ' + maxRSS / 1024);
  });`;
  const preload = join(folder, 'report.mjs');
  writeFileSync(preload, report);
  const child = spawn(process.execPath, ['--import', preload, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout = `${stdout}${chunk}`.slice(-500)));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  await once(child, 'close');
  const [, cpu, memory] = /USED (\S+) (\S+)/.exec(stderr) ?? [];
  if (cpu === undefined) {
    throw new Error(stderr);
  }
  return {
    seconds: (performance.now() - start) / 1000,
    cpu: Number(cpu),
    memory: Number(memory),
    end: stdout.trim().split('\n').at(-1) ?? '',
  };
}

const bare = `import { readFileSync } from 'node:fs';
import { parseAllDocuments } from ${JSON.stringify(import.meta.resolve('yaml'))};
for (const file of process.argv.slice(1)) for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) document.toJS();`;

const rows = [['Clusters', 'bare: CPU s', 'plan: CPU s', 'ratio', 'wall s', 'max. MB', 'sum']];
for (const count of values.clusters.split(',').map(Number)) {
  const [from, to] = [join(folder, String(count), 'from'), join(folder, String(count), 'to')];
  mkdirSync(from, { recursive: true });
  mkdirSync(to);
  const objects = classObjects();
  const changed = structuredClone(objects.find(({ kind }) => kind === 'ClusterClass') ?? {});
  itemsAt(changed, 'spec', 'patches').push(patchOf('new', 'postKubeadmCommands', { value: ['echo new'] }));
  writeFileSync(join(from, 'all.yaml'), documents([...objects, ...clusters(count)]));
  writeFileSync(join(to, 'class.yaml'), documents([changed]));
  const read = await measured(['--input-type=module', '--eval', bare, join(from, 'all.yaml'), join(to, 'class.yaml')]);
  const plan = await measured([builtProgram, 'plan', '--from', from, '-f', to]);
  const texts = [
    count,
    read.cpu.toFixed(1),
    plan.cpu.toFixed(1),
    (plan.cpu / read.cpu).toFixed(1),
    plan.seconds.toFixed(1),
    plan.memory.toFixed(0),
    plan.end,
  ];
  rows.push(texts.map(String));
}
printTable(rows);
