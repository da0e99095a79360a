import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { aroundEach, expect, test } from 'vitest';
import { connect, loadKubeConfig } from '../../../src/kubernetes/client/index.ts';
import { startSandbox } from '../../../src/sandbox/index.ts';
import { localhost, testCa } from '../../base/x509/certificates.ts';
import { compile, linkedProject } from '../../extension/scaffold/linked-project.ts';
import { ending, endWith } from '../../support/ends.ts';
import { readPage } from '../pages.ts';

aroundEach(ending);

const files = ['machine-status.ts', 'ssh-updater.ts', 'agent-updater.ts'];

/** Calls UpdateMachine with the updater that each line names, and prints the result. */
const driver = `
import { createInterface } from 'node:readline';
import { answerUpdate, handler } from 'cluster-api-extension';
import { callHandler, requestFor } from 'cluster-api-extension/testing';
import { agentUpdater } from './agent-updater.ts';
import { sshUpdater } from './ssh-updater.ts';

const updaters = { agent: agentUpdater, ssh: sshUpdater };
for await (const line of createInterface({ input: process.stdin })) {
  const updater = updaters[line as keyof typeof updaters];
  const update = handler('UpdateMachine', {
    name: 'update',
    handle: (request, context) => answerUpdate(request, context, updater),
  });
  const request = structuredClone(requestFor('UpdateMachine'));
  request.desired.machine.spec.version = "v1.33.0'+$IFS";
  const { result, response, lines } = await callHandler(update, request);
  console.log(JSON.stringify([result, response.message ?? '', result === 'error' ? lines : []]));
}
`;

const version = "v1.33.0'+$IFS";

/** A node whose units are files: each contains its state. Nothing else of systemd's is here. */
const systemd = {
  // What follows the host goes to a shell of the node, words joined by spaces, as sshd does.
  ssh: '[ "$1 $2 $3" = "-o BatchMode=yes root@localhost" ] || exit 255; shift 3; exec sh -c "$*"',
  // In an order of its own, whatever the order in which properties are asked for.
  systemctl: `
case $1 in
  show) [ "$2" = --property=LoadState,ActiveState,SubState ] || exit 1
    case $(cat "$NODE/$3" 2>/dev/null) in
      running) set active running loaded ;; exited) set active exited loaded ;; failed) set failed failed loaded ;;
      *) set inactive dead not-found ;;
    esac
    printf 'LoadState=%s\\nActiveState=%s\\nSubState=%s\\n' "$3" "$1" "$2" ;;
  is-active) [ -e "$NODE/$3" ] && [ "$(cat "$NODE/$3")" != failed ] ;;
  reset-failed) [ "$(cat "$NODE/$2" 2>/dev/null)" = failed ] && rm "$NODE/$2" ;;
esac`,
  'systemd-run': `
unit=\${2#--unit=}
if [ -e "$NODE/$unit" ]; then echo "Failed to start transient service unit: Unit $unit was already loaded" >&2; exit 1; fi
[ "$1 $3" = "--remain-after-exit --" ] && shift 3 && printf '%s\\n' "$@" >> "$NODE.log" && printf running > "$NODE/$unit"`,
};

/** An agent that keeps the states of updates. */
async function startAgent() {
  const updates = new Map<string, { state: string; message?: string }>();
  const log: string[] = [];
  const server = createServer({ ...localhost }, async (request, response) => {
    const body = await text(request);
    const key = request.url ?? '';
    if (request.headers.authorization !== 'Bearer secret') {
      response.writeHead(401).end();
      return;
    }
    if (request.method === 'PUT' && (updates.get(key)?.state ?? 'failed') === 'failed') {
      log.push(body);
      updates.set(key, { state: 'running' });
    }
    response.writeHead(updates.has(key) ? 200 : 404).end(JSON.stringify(updates.get(key)));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  endWith(() => server.closeAllConnections());
  endWith(() => server.close());
  return { updates, log, port: (server.address() as AddressInfo).port };
}

const machine = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Machine',
  metadata: { name: 'example-md-0', namespace: 'default' },
};

/** An API server with the Machine of the request. */
async function startManagementCluster(folder: string) {
  const sandbox = await startSandbox();
  endWith(() => sandbox.stop());
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const client = connect(await loadKubeConfig({ kubeconfig }), new AbortController().signal);
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await client.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'machines.cluster.x-k8s.io' },
    spec: {
      group: 'cluster.x-k8s.io',
      scope: 'Namespaced',
      names: { kind: 'Machine', listKind: 'MachineList', plural: 'machines', singular: 'machine' },
      versions: [{ name: 'v1beta2', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  });
  const machines = '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/machines';
  await client.request('POST', machines, machine);
  const setStatus = (status: object) =>
    client.request('PATCH', `${machines}/${machine.metadata.name}/status`, { status: status as never });
  return { kubeconfig, setStatus };
}

test('nodes are updated by SSH and by an agent, of machines that the API server knows', {
  timeout: 60_000,
}, async () => {
  const folder = await linkedProject(['UpdateMachine']);
  for (const file of files) {
    writeFileSync(join(folder, 'src', file), readPage(`docs/examples/${file}`));
  }
  writeFileSync(join(folder, 'src/driver.ts'), driver);
  mkdirSync(join(folder, 'node_modules/@kubernetes'));
  const root = new URL('../../../', import.meta.url).pathname;
  symlinkSync(join(root, 'node_modules/@kubernetes/client-node'), join(folder, 'node_modules/@kubernetes/client-node'));
  expect(await compile(folder)).toBe('');

  const node = join(folder, 'node');
  mkdirSync(node);
  mkdirSync(join(folder, 'bin'));
  for (const [name, script] of Object.entries(systemd)) {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const { kubeconfig, setStatus } = await startManagementCluster(folder);
  const agent = await startAgent();
  writeFileSync(join(folder, 'ca.crt'), testCa.cert);
  const env = {
    ...process.env,
    NODE: node,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    KUBECONFIG: kubeconfig,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
    AGENT_PORT: String(agent.port),
    AGENT_TOKEN: 'secret',
  };
  const child = spawn(process.execPath, ['src/driver.ts'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  endWith(() => child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function ask(updater: string): Promise<unknown> {
    child.stdin.write(`${updater}\n`);
    return JSON.parse(String((await lines.next()).value));
  }
  const unit = () => join(node, readdirSync(node)[0] ?? '');
  const end = {
    ssh: (state: string) => writeFileSync(unit(), state === 'done' ? 'exited' : state),
    agent: (state: string) => {
      const message = state === 'failed' ? 'the update failed: see the journal of the node' : undefined;
      agent.updates.set([...agent.updates.keys()][0] ?? '', { state, ...(message && { message }) });
    },
  };
  const begun = {
    ssh: () => (existsSync(`${node}.log`) ? readFileSync(`${node}.log`, 'utf8').trim().split('\n') : []),
    agent: () => agent.log.map((body) => JSON.parse(body).version),
  };
  const running = ['blocking', 'the machine is being updated', []];
  for (const updater of ['ssh', 'agent'] as const) {
    const command = updater === 'ssh' ? ['/usr/local/bin/update-node', version] : [version];
    await setStatus({ addresses: [] });
    expect(await ask(updater)).toEqual(['failure', 'the Machine has no InternalIP', []]);
    await setStatus({ addresses: [{ type: 'InternalIP', address: 'localhost' }] });
    expect([await ask(updater), await ask(updater)]).toEqual([running, running]);
    expect(begun[updater]()).toEqual(command);
    end[updater]('failed');
    expect(await ask(updater)).toEqual(['failure', 'the update failed: see the journal of the node', []]);
    expect(await ask(updater)).toEqual(running);
    expect(begun[updater]()).toEqual([...command, ...command]);
    end[updater]('done');
    expect(await ask(updater)).toEqual(['blocking', `the kubelet does not report ${version} yet`, []]);
    await setStatus({ nodeInfo: { kubeletVersion: version } });
    expect(await ask(updater)).toEqual(['success', '', []]);
    await setStatus({ nodeInfo: null });
  }
  rmSync(node, { recursive: true });
});
