import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { definition } from '../../../tools/generate/definition.ts';
import { eventually, send } from '../../sandbox/client.ts';

/** The definitions of ClusterClass and Cluster, as far as facts need them. */
export const clusterApiDefinitions = parseAllDocuments(
  readFileSync(new URL('../../support/fixtures/cluster-api/definitions.yaml', import.meta.url), 'utf8'),
).map((document) => document.toJS() as JsonObject);

/** An API server with ExtensionConfigs and no webhook. */
export interface Cluster {
  sandbox: Sandbox;
  config: KubeConfig;
  /** Creates objects, or replaces them. */
  put(...objects: JsonObject[]): Promise<void>;
  delete(object: JsonObject): Promise<void>;
  define(...definitions: JsonObject[]): Promise<void>;
}

const plurals: Readonly<Record<string, string>> = {
  ClusterClass: 'clusterclasses',
  CustomResourceDefinition: 'customresourcedefinitions',
};

function collectionOf({ apiVersion, kind, metadata }: JsonObject): string {
  const { namespace } = metadata as { namespace?: string };
  const base = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const plural = plurals[String(kind)] ?? `${String(kind).toLowerCase()}s`;
  return `${base}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
}

export async function startCluster(): Promise<Cluster> {
  const sandbox = await startSandbox();
  const config = new KubeConfig();
  config.loadFromString(sandbox.kubeconfig);
  async function put(...objects: JsonObject[]): Promise<void> {
    for (const object of objects) {
      const path = collectionOf(object);
      const { name } = object.metadata as { name: string };
      const made = await send(sandbox, 'POST', path, { body: object });
      if (made.status === 409) {
        const { json } = await send(sandbox, 'GET', `${path}/${name}`);
        const { resourceVersion } = json.metadata as { resourceVersion: string };
        const body = { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion } };
        const changed = await send(sandbox, 'PUT', `${path}/${name}`, { body });
        if (changed.status !== 200) {
          throw new Error(changed.text);
        }
      } else if (made.status !== 201) {
        throw new Error(made.text);
      }
    }
  }
  async function define(...definitions: JsonObject[]): Promise<void> {
    for (const object of definitions) {
      await put(object);
      const { name } = object.metadata as { name: string };
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
      await eventually(
        async () => JSON.stringify((await send(sandbox, 'GET', path)).json.status ?? {}),
        (status) => status.includes('"type":"Established"'),
      );
    }
  }
  await define(definition as unknown as JsonObject);
  return {
    sandbox,
    config,
    put,
    define,
    async delete(object) {
      const { name } = object.metadata as { name: string };
      await send(sandbox, 'DELETE', `${collectionOf(object)}/${name}`);
    },
  };
}
