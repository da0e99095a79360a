import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { watchObjects } from '../../../src/checks/impact/watched-objects.ts';
import { type JsonObject, textAt } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, send } from '../../sandbox/client.ts';

const samples = (name: string) =>
  parseAllDocuments(readFileSync(`manifests/samples/plan/${name}.yaml`, 'utf8')).map(
    (document) => document.toJS() as JsonObject,
  );

const group = 'infrastructure.cluster.x-k8s.io';
const kind = 'AzureManagedControlPlane';

/** A definition of a kind that takes anything. */
const definition = (name: string): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${name.toLowerCase()}s.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: name, plural: `${name.toLowerCase()}s`, singular: name.toLowerCase(), listKind: `${name}List` },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

let sandbox: Sandbox;
const post = (path: string, body: JsonObject) => send(sandbox, 'POST', path, { body });
const define = (body: JsonObject) => post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body);

beforeAll(async () => {
  sandbox = await startSandbox();
  for (const body of samples('crds')) {
    await define(body);
  }
});
// The watches end with the process: the sandbox would wait for one that reconnects meanwhile.
afterAll(() => void sandbox?.stop());

test("the control planes of a class are watched when they are defined, also those in the group of a cloud's infrastructure", async () => {
  const clusterClass = samples('class').find((object) => object.kind === 'ClusterClass') as JsonObject;
  const spec = clusterClass.spec as JsonObject;
  const templateRef = { apiVersion: `${group}/v1beta1`, kind: `${kind}Template`, name: 'aks' };
  const [, version] = textAt(clusterClass, 'apiVersion').split('/');
  await post(`/apis/cluster.x-k8s.io/${version}/namespaces/default/clusterclasses`, {
    ...clusterClass,
    spec: { ...spec, controlPlane: { templateRef } },
  });
  const config = new KubeConfig();
  config.loadFromString(sandbox.kubeconfig);
  const watched = watchObjects(config, () => undefined);
  // A kind without a definition is no problem.
  await eventually(
    () => Promise.resolve([watched.problem, watched.ofKind('cluster.x-k8s.io', 'ClusterClass').length] as const),
    ([problem, classes]) => problem === undefined && classes === 1,
  );
  expect(watched.ofKind(group, kind)).toEqual([]);
  await define(definition(kind));
  await define(definition(`${kind}Template`));
  const object = { apiVersion: `${group}/v1beta1`, kind, metadata: { name: 'aks', namespace: 'default' }, spec: {} };
  await post(`/apis/${group}/v1beta1/namespaces/default/${kind.toLowerCase()}s`, object);
  const found = await eventually(
    () => Promise.resolve([watched.problem, ...watched.ofKind(group, kind)] as const),
    ([problem, ...objects]) => problem === undefined && objects.length === 1,
  );
  expect(textAt(found[1], 'metadata', 'name')).toBe('aks');
}, 30_000);
