import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import { selfSignedPair } from '../../../../src/server/index.ts';
import { apiClient } from '../../../kubernetes/client/api-client.ts';
import { apiService, json } from '../../../sandbox/aggregation/aggregated-server.ts';
import { eventually } from '../../../sandbox/client.ts';
import { runProgram } from '../io.ts';
import { ready, startAlone } from './running.ts';

const group = 'old.example.com';
const recorded = readFileSync(new URL('../../../support/fixtures/openapi/aggregated-old-v2.json', import.meta.url));

test('an aggregated API server is where --resolve says, and its documents are merged with the others', async () => {
  const resources = [
    { name: 'gadgets', singularName: 'gadget', namespaced: false, kind: 'Gadget', verbs: ['get', 'list'] },
  ];
  const answers: Record<string, JsonObject> = {
    [`/apis/${group}/v1`]: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1`, resources },
    '/openapi/v2': JSON.parse(recorded.toString()) as JsonObject,
    [`/apis/${group}/v1/gadgets`]: {
      kind: 'GadgetList',
      apiVersion: `${group}/v1`,
      metadata: {},
      items: [{ kind: 'Gadget', apiVersion: `${group}/v1`, metadata: { name: 'first' } }],
    },
  };
  const server = createServer(selfSignedPair(new Date()), ({ url = '' }, response) => {
    const answer = answers[url];
    json(response, answer ?? {}, answer === undefined ? 404 : 200);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { stop, output, ended } = startAlone(['--resolve', `lab/older:8443=127.0.0.1:${port}`]);
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  const kubeconfig = await ready(output);
  const send = apiClient(await loadKubeConfig({ kubeconfig }, {}));
  const service = { namespace: 'lab', name: 'older', port: 8443 };
  const spec = { insecureSkipTLSVerify: true, service };
  await send('POST', '/apis/apiregistration.k8s.io/v1/apiservices', apiService(group, 'older', spec));
  const gadgets = () => send('GET', `/apis/${group}/v1/gadgets`).catch((error: Error) => error);
  expect(await eventually(gadgets, (answer) => !(answer instanceof Error))).toMatchObject({
    items: [{ kind: 'Gadget', apiVersion: `${group}/v1`, metadata: { name: 'first' } }],
  });

  await eventually(
    () => send<{ paths: object }>('GET', '/openapi/v3'),
    ({ paths }) => Object.hasOwn(paths, `apis/${group}/v1`),
  );
  const merged = await runProgram(['openapi', 'merge', '--kubeconfig', kubeconfig]);
  expect(merged.code).toBe(0);
  const document = parse(merged.stdout, { uniqueKeys: false }) as { paths: object; components: { schemas: object } };
  expect(Object.keys(document.paths)).toContain(`/apis/${group}/v1/gadgets`);
  expect(Object.keys(document.components.schemas)).toContain('com.example.old.v1.Gadget');
});
