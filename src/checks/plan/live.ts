import { eachOf, withRemedy } from '../../base/index.ts';
import { group as runtimeGroup } from '../../extensionconfig/index.ts';
import { isStatus, type KubernetesClient, listPages } from '../../kubernetes/client/index.ts';
import { groupOf, type JsonObject, namespaceOf, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { coreGroup, prepared, templateReferences, type Unread, World } from '../../topology/index.ts';
import { DryRuns, type Resource } from './dry-runs.ts';

/** The objects of an API server, for a plan. */
export interface LiveWorld {
  world: World;
  /** The resourceVersion of each list, by resource. */
  versions: ReadonlyMap<string, string>;
  dryRuns: DryRuns;
}

export interface LiveOptions {
  /** Read only this namespace, and those of the classes in use. Default: all. */
  namespace?: string | undefined;
  /** Label selector of the Clusters. */
  selector?: string | undefined;
  /** Called after each page with the number of objects so far. */
  onPage?: ((objects: number) => void) | undefined;
}

/** Maximum number of requests at a time. */
const requestsAtOnce = 10;

/** Maximum number of objects of a kind. */
const maxObjects = 200_000;

/** The kinds of a group in the version that the API server prefers. */
async function resourcesOf(client: KubernetesClient, group: string, version: string): Promise<Resource[]> {
  const { resources } = await client.request('GET', `/apis/${group}/${version}`);
  return objectsAt(resources)
    .filter((resource) => !textAt(resource, 'name').includes('/'))
    .map((resource) => ({
      apiVersion: `${group}/${version}`,
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
  return new Map(
    all.flat().map((resource) => [`${groupOf({ apiVersion: resource.apiVersion })} ${resource.kind}`, resource]),
  );
}

/** Lists a kind; once more from the beginning if the token of a page has expired. */
async function listed(
  client: KubernetesClient,
  resource: Resource,
  namespace: string | undefined,
  query: Readonly<Record<string, string>> | undefined,
  onPage: (objects: number) => void,
): Promise<{ objects: JsonObject[]; version: string }> {
  const within =
    namespace === undefined || !resource.isNamespaced ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const path = `${resource.apiVersion === 'v1' ? '/api/v1' : `/apis/${resource.apiVersion}`}${within}/${resource.plural}`;
  const name =
    resource.apiVersion === 'v1'
      ? resource.plural
      : `${resource.plural}.${groupOf({ apiVersion: resource.apiVersion })}`;
  const where = within === '' ? {} : { name: `in namespace ${namespace}` };
  for (let attempt = 1; ; attempt++) {
    const objects: JsonObject[] = [];
    let version = '';
    try {
      for await (const page of listPages(client, { path, resource: name, query, maxObjects, ...where })) {
        objects.push(
          ...page.items.map((item) => prepared({ ...item, apiVersion: resource.apiVersion, kind: resource.kind })),
        );
        version = page.resourceVersion;
        onPage(page.items.length);
      }
      return { objects, version };
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
 * Reads the state of an API server for a plan: Clusters, their classes, templates, control planes, groups of Machines and
 * Machines with what belongs to them, ExtensionConfigs and the labels of Namespaces. Each kind is listed once, in pages,
 * at most ten requests at a time; nothing is watched or written.
 *
 * @throws {Error} if the Clusters cannot be listed, or the API server does not have them.
 */
export async function readWorld(client: KubernetesClient, options: LiveOptions = {}): Promise<LiveWorld> {
  const resources = await discovered(client);
  const objects: JsonObject[] = [];
  const unread: Unread[] = [];
  const versions = new Map<string, string>();
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
        const list = await listed(client, resource, namespace, query, onPage);
        objects.push(...list.objects);
        versions.set(`${resource.plural}.${resource.apiVersion}`, list.version);
      } catch (error) {
        if (isNeeded || !(error instanceof Error) || error.name === 'AbortError') {
          throw error;
        }
        const why = withRemedy(error);
        unread.push({ group: groupOf({ apiVersion: resource.apiVersion }), kind: resource.kind, namespace, why });
      }
    }
  }
  const ofCore = (kind: string) => resources.get(`${coreGroup} ${kind}`);
  const clusters = ofCore('Cluster');
  if (clusters === undefined) {
    throw new Error(`the API server has no Clusters of ${coreGroup}: install Cluster API, or name another kubeconfig`);
  }
  const own = [options.namespace];
  await list(clusters, own, true);
  const classNamespaces = objects
    .map(
      (cluster) =>
        textAt(cluster, 'spec', 'topology', 'classRef', 'namespace') ||
        textAt(cluster, 'spec', 'topology', 'classNamespace') ||
        namespaceOf(cluster),
    )
    .filter((namespace) => options.namespace !== undefined && namespace !== options.namespace);
  const namespaces = options.namespace === undefined ? own : [...new Set([options.namespace, ...classNamespaces])];
  const groups = ['MachineDeployment', 'MachineSet', 'MachinePool', 'Machine', 'MachineHealthCheck'].flatMap(
    (kind) => ofCore(kind) ?? [],
  );
  const extensions = resources.get(`${runtimeGroup} ExtensionConfig`);
  const namespaceKind: Resource = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', isNamespaced: false };
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
  const dryRuns = new DryRuns(client, resources);
  return { world: new World(objects, { unread, dryRun: dryRuns.apply }), versions, dryRuns };
}
