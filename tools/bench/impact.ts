// Reviews of `serve --impact` with many Clusters of one class with 20 patches, ten Machines each:
// `npm run bench:impact [-- --clusters 1000]`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { parseAllDocuments } from 'yaml';
import { connect, loadKubeConfig } from '../../src/kubernetes/client/index.ts';
import { itemsAt, type JsonObject, objectAt, textAt } from '../../src/kubernetes/index.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { builtProgram, printTable, startProgram } from './program.ts';
import { addPatches, lastCommands, patchOf } from './twenty-patches.ts';

const { values } = parseArgs({
  options: { clusters: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '10' } },
});
const count = Number(values.clusters);

const file = (path: string) => readFileSync(new URL(path, import.meta.url));
const { before } = JSON.parse(gunzipSync(file('../../test/support/fixtures/plan/K-etcd.json.gz')).toString()) as {
  before: JsonObject[];
};
const fleet =
  before.find(({ kind, metadata }) => kind === 'ClusterClass' && textAt(metadata, 'name') === 'fleet') ?? {};
addPatches(objectAt(fleet, 'spec'));
const controlPlane = before.find(({ kind }) => kind === 'KubeadmControlPlane');
objectAt(controlPlane, 'spec', 'kubeadmConfigSpec').preKubeadmCommands = lastCommands('f1');
const folder = mkdtempSync(join(tmpdir(), 'bench-impact-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

const unwatched = new Set(['KubeadmConfig', 'DevMachine', 'DevCluster']);
const isOfCluster = (object: JsonObject) =>
  object.kind === 'Cluster' || objectAt(object, 'metadata', 'labels')['cluster.x-k8s.io/cluster-name'] === 'f1';
const own = before.filter((object) => isOfCluster(object) && !unwatched.has(textAt(object, 'kind')));
const [machine = {}] = own.filter(
  ({ kind, metadata }) => kind === 'Machine' && textAt(metadata, 'name').includes('md-1'),
);
const more = [1, 2, 3].map((number) => ({
  ...machine,
  metadata: { ...objectAt(machine, 'metadata'), name: `f1-more-${number}` },
}));

const sandbox = await startSandbox();
writeFileSync(join(folder, 'kubeconfig'), sandbox.kubeconfig, { mode: 0o600 });
const client = connect(
  await loadKubeConfig({ kubeconfig: join(folder, 'kubeconfig') }, {}),
  new AbortController().signal,
);

const definitions = parseAllDocuments(file('../../manifests/samples/plan/crds.yaml').toString()).map(
  (document) => document.toJS() as JsonObject,
);
const plurals = new Map(
  definitions.map(({ spec }) => [textAt(spec, 'names', 'kind'), textAt(spec, 'names', 'plural')] as const),
);
for (const definition of definitions) {
  await client.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
}
async function create(object: JsonObject): Promise<void> {
  const { resourceVersion: _version, uid: _uid, ...metadata } = objectAt(object, 'metadata');
  const path = `/apis/${textAt(object, 'apiVersion')}/namespaces/default/${plurals.get(textAt(object, 'kind'))}`;
  await client.request('POST', path, { ...object, metadata });
}
for (const object of before.filter((one) => !isOfCluster(one))) {
  await create(object);
}
const text = JSON.stringify([...own, ...more]);
for (let index = 0; index < count; index++) {
  await Promise.all((JSON.parse(text.replaceAll(/\bf1\b/g, `c${index}`)) as JsonObject[]).map(create));
}

const webhook = await startProgram([
  '--max-semi-space-size=8',
  builtProgram,
  ...['serve', '--self-signed', '--feature-gates', 'RuntimeSDK=true', '--cluster-facts', '--impact'],
  ...['--kubeconfig', join(folder, 'kubeconfig')],
  ...['--host', '127.0.0.1', '--port', '0', '--health-port', '0'],
]);
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

async function post(path: string, review: object): Promise<{ ms: number; warnings: string[] }> {
  const start = performance.now();
  const body = await new Promise<string>((resolve, reject) => {
    const sent = request(
      { port: webhook.webhookPort, path, method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        let answer = '';
        response.on('data', (chunk) => (answer += chunk)).on('end', () => resolve(answer));
      },
    );
    sent.on('error', reject).end(JSON.stringify(review));
  });
  const { response } = JSON.parse(body) as { response: { warnings?: string[] } };
  return { ms: performance.now() - start, warnings: response.warnings ?? [] };
}

/** A recorded object without its version, which the sandbox does not know. */
function withoutVersion(object: JsonObject): JsonObject {
  const { resourceVersion: _version, ...metadata } = objectAt(object, 'metadata');
  return { ...object, metadata };
}

function reviewOf(next: JsonObject, old: JsonObject) {
  const [object, oldObject] = [withoutVersion(next), withoutVersion(old)];
  const kind = { group: 'cluster.x-k8s.io', version: 'v1beta2', kind: object.kind };
  const { name, namespace } = objectAt(object, 'metadata');
  const user = { username: 'admin' };
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: '1', kind, name, namespace, operation: 'UPDATE', userInfo: user, object, oldObject },
  };
}

const changedClass = structuredClone(fleet);
itemsAt(changedClass, 'spec', 'patches').push(patchOf('new', 'postKubeadmCommands', { value: ['echo'] }));
const cluster = JSON.parse(
  JSON.stringify(own.find(({ kind }) => kind === 'Cluster')).replaceAll(/\bf1\b/g, 'c7'),
) as JsonObject;
const changedCluster = structuredClone(cluster);
const topology = objectAt(changedCluster, 'spec', 'topology');
topology.version = textAt(topology, 'version').replace(/\d+(?=\.\d+$)/, (minor) => String(Number(minor) + 1));

const ofClass = reviewOf(changedClass, fleet);
const ofCluster = reviewOf(changedCluster, cluster);
const validate = JSON.parse(file('../../test/support/fixtures/webhook-calls/create-validate.json').toString()) as {
  body: object;
};
const validatePath = '/validate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig';

const startedMs = performance.now();
for (;;) {
  const { warnings } = await post('/impact', ofCluster);
  if (warnings[0]?.startsWith('replaces')) {
    break;
  }
  if (performance.now() - startedMs > 60_000) {
    throw new Error(`not ready after a minute: ${warnings}`);
  }
  await sleep(100);
}
process.stdout.write(
  `ready after ${((performance.now() - startedMs) / 1000).toFixed(1)} s, ${webhook.residentMiB().toFixed(0)} MiB\n`,
);

async function measured(name: string, review: object): Promise<string[]> {
  const times: number[] = [];
  let last: string[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const { ms, warnings } = await post('/impact', review);
    times.push(ms);
    last = warnings;
  }
  times.sort((one, other) => one - other);
  process.stdout.write(`${name}:\n${last.map((line) => `  ${line}\n`).join('')}`);
  return [name, times[times.length >> 1]?.toFixed(0) ?? '', times.at(-1)?.toFixed(0) ?? ''];
}

const rows = [['review', 'p50 ms', 'max. ms']];
rows.push(await measured('Cluster', ofCluster));
let isPlanning = true;
const others: number[] = [];
const meanwhile = (async () => {
  while (isPlanning) {
    others.push((await post(validatePath, validate.body)).ms);
    await sleep(5);
  }
})();
rows.push(await measured('ClusterClass', ofClass));
isPlanning = false;
await meanwhile;
others.sort((one, other) => one - other);
rows.push(['validate, meanwhile (p99)', '', others[Math.floor(others.length * 0.99)]?.toFixed(0) ?? '']);
printTable(rows);
process.stdout.write(`${webhook.residentMiB().toFixed(0)} MiB resident\n`);
agent.destroy();
await webhook.stop();
await sandbox.stop();
