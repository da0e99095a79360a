import { eachOf, FailureError, withRemedy } from '../../base/index.ts';
import { group as runtimeGroup } from '../../extensionconfig/index.ts';
import { isStatus, type KubernetesClient, listPages } from '../../kubernetes/client/index.ts';
import { groupOf, type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { classNameOf, prepared, templateReferences, World } from '../../topology/index.ts';
import { createDryRuns, type DryRuns, type Resource } from './dry-runs.ts';

export interface LiveWorld {
  world: World;
  dryRuns: DryRuns;
}

export interface LiveOptions {
  /** Read only this namespace, and those of the classes in use. Default: all. */
  namespace?: string | undefined;
  selector?: string | undefined;
  onPage?: ((objects: number) => void) | undefined;
}

const requestsAtOnce = 10;

const maxObjects = 200_000;

/** The kinds of a group in the version that the API server prefers. */
async function resourcesOf(client: KubernetesClient, group: string, version: string): Promise<Resource[]> {
  const { resources } = await client.request('GET', `/apis/${group}/${version}`);
  return objectsAt(resources)
    .filter((resource) => !textAt(resource, 'name').includes('/'))
    .map((resource) => ({
      ...{ group, apiVersion: `${group}/${version}` },
      kind: textAt(resource, 'kind'),
      plural: textAt(resource, 'name'),
      isNamespaced: resource.namespaced === true,
    }));
}

/** The kinds of Cluster API and its providers, by group and kind. */
async function discovered(client: KubernetesClient): Promise<Map<string, Resource>> {
  const { groups } = await client.request('GET', '/apis');
  const versions = objectsAt(groups)
    .map((group) => ({ name: textAt(group, 'name'), version: textAt(group, 'preferredVersion', 'version') }))
    .filter(({ name }) => name === coreGroup || name.endsWith(`.${coreGroup}`));
  const all = await eachOf(versions, requestsAtOnce, ({ name, version }) => resourcesOf(client, name, version));
  return new Map(all.flat().map((resource) => [`${resource.group} ${resource.kind}`, resource]));
}

/** Lists a kind; once more from the beginning if the token of a page has expired. */
async function listed(
  client: KubernetesClient,
  { group, apiVersion, kind, plural, isNamespaced }: Resource,
  namespace: string | undefined,
  query: Readonly<Record<string, string>> | undefined,
  onPage: (objects: number) => void,
): Promise<JsonObject[]> {
  const within = namespace === undefined || !isNamespaced ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const path = `/${group === '' ? 'api' : 'apis'}/${apiVersion}${within}/${plural}`;
  const resource = group === '' ? plural : `${plural}.${group}`;
  const where = within === '' ? {} : { name: `in namespace ${namespace}` };
  for (let attempt = 1; ; attempt++) {
    const objects: JsonObject[] = [];
    try {
      for await (const { items } of listPages(client, { path, resource, query, maxObjects, ...where })) {
        objects.push(...items.map((item) => prepared({ ...item, apiVersion, kind })));
        onPage(items.length);
      }
      return objects;
    } catch (error) {
      if (!isStatus(error, 410) || attempt === 3) {
        throw error;
      }
    }
  }
}

/** The kinds that Clusters, classes and groups of Machines refer to: templates, control planes, and what Machines have. */
function referredKinds(objects: readonly JsonObject[]): Set<string> {
  const paths: (readonly string[])[] = [
    ['spec', 'controlPlaneRef'],
    ['spec', 'infrastructureRef'],
    ['spec', 'bootstrap', 'configRef'],
    ['spec', 'template', 'spec', 'infrastructureRef'],
    ['spec', 'template', 'spec', 'bootstrap', 'configRef'],
  ];
  const references = objects.flatMap((object) => [
    ...paths.map((path) => objectAt(object, ...path)).filter(({ kind }) => kind !== undefined),
    ...(object.kind === 'ClusterClass' ? templateReferences(object) : []),
  ]);
  return new Set(
    references.map(
      (reference) => `${textAt(reference, 'apiGroup') || groupOf(reference)} ${textAt(reference, 'kind')}`,
    ),
  );
}

/**
 * Reads what a plan needs from an API server: each kind once, in pages, at most ten requests at a time; writes nothing.
 * @throws {Error} if the Clusters cannot be listed, or the API server does not have them.
 */
export async function readWorld(client: KubernetesClient, options: LiveOptions = {}): Promise<LiveWorld> {
  const resources = await discovered(client);
  const objects: JsonObject[] = [];
  const unread: World['unread'][number][] = [];
  let read = 0;
  const onPage = (count: number) => {
    read += count;
    options.onPage?.(read);
  };
  async function list(resource: Resource, namespaces: readonly (string | undefined)[], isNeeded = false) {
    const query =
      resource.kind === 'Cluster' && options.selector !== undefined ? { labelSelector: options.selector } : undefined;
    for (const namespace of namespaces) {
      try {
        objects.push(...(await listed(client, resource, namespace, query, onPage)));
      } catch (error) {
        if (isNeeded || !(error instanceof Error) || error.name === 'AbortError') {
          throw error;
        }
        unread.push({ group: resource.group, kind: resource.kind, namespace, why: withRemedy(error) });
      }
    }
  }
  const ofCore = (kind: string) => resources.get(`${coreGroup} ${kind}`);
  const clusters = ofCore('Cluster');
  if (clusters === undefined) {
    throw new FailureError(
      `the API server has no Clusters of ${coreGroup}: install Cluster API, or name another kubeconfig`,
    );
  }
  const own = [options.namespace];
  await list(clusters, own, true);
  const classNamespaces = objects.map((cluster) => classNameOf(cluster).split('/')[0]);
  const namespaces = options.namespace === undefined ? own : [...new Set([...own, ...classNamespaces])];
  const groups = ['MachineDeployment', 'MachineSet', 'MachinePool', 'Machine', 'MachineHealthCheck'].flatMap(
    (kind) => ofCore(kind) ?? [],
  );
  const extensions = resources.get(`${runtimeGroup} ExtensionConfig`);
  const namespaceKind = { group: '', apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', isNamespaced: false };
  await eachOf(
    [
      ...[ofCore('ClusterClass') ?? []].flat().map((resource) => ({ resource, within: namespaces })),
      ...groups.map((resource) => ({ resource, within: own })),
      ...[extensions ?? [], namespaceKind].flat().map((resource) => ({ resource, within: [undefined] })),
    ],
    requestsAtOnce,
    ({ resource, within }) => list(resource, within),
  );
  const referred = [...referredKinds(objects)].flatMap((kind) => resources.get(kind) ?? []);
  await eachOf(referred, requestsAtOnce, (resource) => list(resource, namespaces));
  const dryRuns = createDryRuns(client, resources);
  return { world: new World(objects, { unread, dryRun: dryRuns.apply }), dryRuns };
}
