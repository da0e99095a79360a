import { eachOf } from '../../base/index.ts';
import { group as runtimeGroup } from '../../extensionconfig/index.ts';
import { Forbidden, isStatus, type KubernetesClient, listPages, withRemedy } from '../../kubernetes/client/index.ts';
import { type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import {
  type ClusterPlan,
  coreGroup,
  type DryRun,
  groupOf,
  inV1beta2,
  nameOf,
  namespaceOf,
  type Plan,
  readBlueprint,
} from '../../topology/index.ts';

/** What could not be read: the Clusters that need it are not known. */
export interface Unread {
  group: string;
  kind: string;
  /** One line with the missing verb, or what the API server said. */
  why: string;
}

/** The objects of an API server that a plan needs. */
export interface LiveState {
  objects: JsonObject[];
  unread: Unread[];
  /** The resourceVersion of each list, by resource. */
  versions: Map<string, string>;
  /** Asks the API server about an object in a dry run. */
  dryRun: DryRun;
}

export interface LiveOptions {
  /** Read only this namespace, and those of the classes in use. Default: all. */
  namespace?: string | undefined;
  /** Label selector of the Clusters. */
  selector?: string | undefined;
  /** Called after each page with the number of objects so far. */
  onPage?: ((objects: number) => void) | undefined;
}

interface Resource {
  apiVersion: string;
  kind: string;
  /** `machines` */
  plural: string;
  isNamespaced: boolean;
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

/** What a plan reads of an object: not who wrote its fields. */
function planned(object: JsonObject, { apiVersion, kind }: Resource): JsonObject {
  const { managedFields: _managedFields, ...metadata } = objectAt(object, 'metadata');
  return { ...object, apiVersion, kind, metadata };
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
  for (let attempt = 1; ; attempt++) {
    const objects: JsonObject[] = [];
    let version = '';
    try {
      for await (const page of listPages(client, { path, resource: name, query, maxObjects })) {
        objects.push(...page.items.map((item) => planned(item, resource)));
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

/** The references of a ClusterClass to templates. */
export function templateReferences(clusterClass: JsonObject): JsonObject[] {
  const references: JsonObject[] = [];
  readBlueprint(inV1beta2(clusterClass), (reference) => {
    references.push(reference);
    return undefined;
  });
  return references;
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

/** Codes with which an API server says that the account may not write, not even in a dry run. */
const notAllowed = [401, 403];

/** Dry runs of writes, until the API server forbids one of a kind. */
function dryRunWith(client: KubernetesClient, resources: ReadonlyMap<string, Resource>): DryRun {
  const forbidden = new Set<string>();
  return async (object, existing) => {
    const kind = `${groupOf(object)} ${textAt(object, 'kind')}`;
    const resource = resources.get(kind);
    if (resource === undefined || forbidden.has(kind)) {
      return undefined;
    }
    const collection = `/apis/${textAt(object, 'apiVersion')}/namespaces/${encodeURIComponent(namespaceOf(object))}/${resource.plural}`;
    const { uid: _uid, resourceVersion: _version, ...metadata } = objectAt(object, 'metadata');
    try {
      const stored =
        existing === undefined
          ? await client.request('POST', `${collection}?dryRun=All`, { ...object, metadata })
          : await client.request('PUT', `${collection}/${encodeURIComponent(nameOf(object))}?dryRun=All`, {
              ...object,
              metadata: { ...metadata, resourceVersion: textAt(existing, 'metadata', 'resourceVersion') },
            });
      return { is: 'stored', object: planned(stored, { ...resource, apiVersion: textAt(object, 'apiVersion') }) };
    } catch (error) {
      if (isStatus(error, ...notAllowed)) {
        forbidden.add(kind);
        return undefined;
      }
      if (isStatus(error, 400, 422)) {
        return { is: 'refused', error: error.message };
      }
      if (isStatus(error, 404, 405, 409)) {
        return undefined;
      }
      throw error;
    }
  };
}

/**
 * Reads the state of an API server for a plan: Clusters, their classes, templates, control planes, groups of Machines and
 * Machines with what belongs to them, ExtensionConfigs and the labels of Namespaces. Each kind is listed once, in pages,
 * at most ten requests at a time; nothing is watched or written.
 *
 * @throws {Error} if the Clusters cannot be listed, or the API server does not have them.
 */
export async function readLive(client: KubernetesClient, options: LiveOptions = {}): Promise<LiveState> {
  const resources = await discovered(client);
  const state: LiveState = { objects: [], unread: [], versions: new Map(), dryRun: dryRunWith(client, resources) };
  let read = 0;
  const onPage = (objects: number) => {
    read += objects;
    options.onPage?.(read);
  };
  async function list(resource: Resource, namespaces: readonly (string | undefined)[], isNeeded = false) {
    const query =
      resource.kind === 'Cluster' && options.selector !== undefined ? { labelSelector: options.selector } : undefined;
    try {
      for (const namespace of namespaces) {
        const { objects, version } = await listed(client, resource, namespace, query, onPage);
        state.objects.push(...objects);
        state.versions.set(`${resource.plural}.${resource.apiVersion}`, version);
      }
    } catch (error) {
      if (isNeeded || !(error instanceof Error) || error.name === 'AbortError') {
        throw error;
      }
      const why = error instanceof Forbidden ? error.message : withRemedy(error);
      state.unread.push({ group: groupOf({ apiVersion: resource.apiVersion }), kind: resource.kind, why });
    }
  }
  const ofCore = (kind: string) => resources.get(`${coreGroup} ${kind}`);
  const clusters = ofCore('Cluster');
  if (clusters === undefined) {
    throw new Error(`the API server has no Clusters of ${coreGroup}: install Cluster API, or name another kubeconfig`);
  }
  const own = [options.namespace];
  await list(clusters, own, true);
  const classNamespaces = state.objects
    .map(
      (cluster) =>
        textAt(cluster, 'spec', 'topology', 'classRef', 'namespace') ||
        textAt(cluster, 'spec', 'topology', 'classNamespace') ||
        namespaceOf(cluster),
    )
    .filter((namespace) => options.namespace !== undefined && namespace !== options.namespace);
  const namespaces = options.namespace === undefined ? own : [...new Set([options.namespace, ...classNamespaces])];
  const groups = ['MachineDeployment', 'MachineSet', 'MachinePool', 'Machine'].flatMap((kind) => ofCore(kind) ?? []);
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
  const referred = [...referredKinds(state.objects)].flatMap((kind) => resources.get(kind) ?? []);
  await eachOf(referred, requestsAtOnce, (resource) => list(resource, namespaces));
  return state;
}

/** The plan where objects could not be read: nothing is known about the groups, for lack of a permission that is named. */
export function withUnread(plan: Plan, unread: readonly Unread[]): Plan {
  // Without their labels, only namespaceSelectors of extensions cannot be judged.
  const missing = unread.filter(({ kind }) => kind !== 'Namespace');
  if (missing.length === 0) {
    return plan;
  }
  const clusters = plan.clusters.map(
    ({ cluster, groups, problems }): ClusterPlan => ({
      cluster,
      groups: groups.map((group) => ({
        ...group,
        verdict: 'unknown',
        machines: { ...group.machines, replaced: 0, inPlace: 0 },
        causes: [],
      })),
      // What is not among the objects may be what could not be read.
      problems: [
        ...problems.filter(({ object }) => object === undefined),
        ...missing.map(({ why }) => ({ text: why })),
      ],
    }),
  );
  const { clusters: count, machines } = plan.sum;
  const none = { replaced: 0, created: 0, deleted: 0, inPlace: 0, onDelete: 0, notApplied: 0 };
  return { clusters, sum: { clusters: count, machines, ...none, unknown: machines } };
}
