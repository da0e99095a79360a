import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { clientNode } from '../../../../src/kubernetes/client/client-node/client-node.ts';
import { recordLoads } from '../../../support/loads.ts';

const program = `
import { once } from 'node:events';
${recordLoads}
const { clientNode } = await import(${JSON.stringify(new URL('../../../../src/kubernetes/client/client-node/client-node.ts', import.meta.url))});
const parts = clientNode();
const pod = new parts.KubeConfig();
pod.loadFromClusterAndUser({ name: 'a', server: 'https://127.0.0.1' }, { name: 'b', authProvider: { name: 'tokenFile', config: { tokenFile: process.env.TOKEN_FILE } } });
const ofPod = {};
await pod.applyToHTTPSOptions(ofPod);
const ofClient = loads.filter((url) => url.includes('/@kubernetes/client-node/')).length;
const ofNode = process.moduleLoadList.filter((name) => name.includes('deps/undici'));
const rare = loads.filter((url) => /\\/node_modules\\/(hpagent|jose|jsonpath-plus|oauth4webapi|openid-client|socks)/.test(url));
const ofUndici = loads.filter((url) => url.includes('/node_modules/undici/')).length;
const whole = await import('@kubernetes/client-node');
const isSame = Object.entries(parts).map(([name, value]) => value === whole[name]);
const server = process.getBuiltinModule('node:http').createServer((_request, response) => response.setHeader('content-type', 'application/json').end('{"versions":["v1"]}'));
await once(server.listen(0, '127.0.0.1'), 'listening');
const config = new whole.KubeConfig();
const url = 'http://127.0.0.1:' + server.address().port;
config.loadFromClusterAndUser({ name: 'a', server: url, skipTLSVerify: true }, { name: 'b' });
const { versions } = await config.makeApiClient(whole.CoreApi).getAPIVersions();
server.closeAllConnections();
server.close();
const ours = new parts.KubeConfig();
ours.loadFromClusterAndUser({ name: 'a', server: 'https://127.0.0.1:6443', skipTLSVerify: false }, { name: 'b' });
const isApi = ours.makeApiClient(whole.CoreV1Api) instanceof whole.CoreV1Api;
const called = new parts.RequestContext('https://127.0.0.1:6443/api', whole.HttpMethod.GET).getUrl();
console.log(JSON.stringify({ authorization: ofPod.headers.Authorization, isApi, called, ofClient, ofUndici, ofNode, rare, isSame, models: typeof whole.V1Pod, versions }));
`;

test('only the files of the Kubernetes client that are used are loaded; the classes are those of the complete client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'client-node-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'of-pod');
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    env: { ...process.env, TOKEN_FILE: tokenFile },
  });
  expect(stderr).toBe('');
  const loaded = JSON.parse(stdout) as {
    authorization: string;
    isApi: boolean;
    called: string;
    ofClient: number;
    ofUndici: number;
    ofNode: string[];
    rare: string[];
    isSame: boolean[];
    models: string;
    versions: string[];
  };
  const { authorization, isApi, called, ofClient, ofUndici, ofNode, rare, isSame, models, versions } = loaded;
  expect(authorization).toBe('Bearer of-pod');
  expect(ofClient).toBeGreaterThan(5);
  expect(ofClient).toBeLessThan(50);
  expect(ofUndici).toBeGreaterThan(5);
  expect(ofUndici).toBeLessThan(40);
  // The client in Node.js, which any import of node:http loads.
  expect(ofNode).toEqual([]);
  // For credentials of providers other than a pod's file, and for proxies.
  expect(rare).toEqual([]);
  expect(isSame).toEqual([true, true]);
  expect(models).toBe('function');
  // Requests of the full undici, which need more of the HTTP client than ours do.
  expect(versions).toEqual(['v1']);
  // Its kubeconfig finds the generated parts that it uses.
  expect(isApi).toBe(true);
  expect(called).toBe('https://127.0.0.1:6443/api');
});

test('it is loaded once', () => {
  const { KubeConfig, RequestContext } = clientNode();
  expect(clientNode()).toEqual({ KubeConfig, RequestContext });
  expect(clientNode()).toBe(clientNode());
});
