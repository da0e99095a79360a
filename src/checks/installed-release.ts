import { isStatus, type KubernetesClient } from '../kubernetes/client/index.ts';
import { fieldAt, itemsAt, type Json, objectAt } from '../kubernetes/index.ts';
import { compareReleases, formatRelease, parseRelease, type Release, v1 } from '../runtimehooks/index.ts';

/** The inventory that clusterctl keeps. */
const inventory = '/apis/clusterctl.cluster.x-k8s.io/v1alpha3/providers';

/** Where the release of Cluster API's core manager can be read, and how; the most reliable place first. */
const places: readonly { path: string; versionsIn(answer: Json): Json[] }[] = [
  {
    path: inventory,
    versionsIn: (list) =>
      itemsAt(fieldAt(list, 'items'))
        .filter((one) => fieldAt(one, 'type') === 'CoreProvider' && fieldAt(one, 'providerName') === 'cluster-api')
        .map((one) => fieldAt(one, 'version') ?? ''),
  },
  {
    // The manager itself, in whatever namespace: Cluster API's manifests set this label (config/default, v1.11).
    path: '/apis/apps/v1/deployments?labelSelector=cluster.x-k8s.io%2Fprovider%3Dcluster-api',
    versionsIn: (list) =>
      itemsAt(fieldAt(list, 'items')).flatMap((deployment) => [
        ...itemsAt(fieldAt(deployment, 'spec', 'template', 'spec', 'containers')).map(tagOfManager),
        labelledVersion(deployment),
      ]),
  },
  {
    // The schemas of its CustomResourceDefinitions, which every account may read.
    path: '/openapi/v3/apis/cluster.x-k8s.io/v1beta2',
    versionsIn: (document) => versionsBySchema(document),
  },
];

/** A field of v1beta2 that a release added, the newest one first. */
const firstFields: readonly { release: Release; kind: string; path: readonly string[] }[] = [
  { release: v1(14), kind: 'MachineDeployment', path: ['status', 'versions'] },
  { release: v1(13), kind: 'ClusterClass', path: ['spec', 'controlPlane', 'taints'] },
  { release: v1(12), kind: 'ClusterClass', path: ['spec', 'kubernetesVersions'] },
];

/** The newest release that added a field which a document in OpenAPI v3 has. */
function versionsBySchema(document: Json): string[] {
  const schemas = Object.values(objectAt(document, 'components', 'schemas'));
  const schemaOf = (kind: string) =>
    schemas.find((schema) =>
      itemsAt(schema, 'x-kubernetes-group-version-kind').some((name) => fieldAt(name, 'kind') === kind),
    );
  const newest = firstFields.find(
    ({ kind, path }) => fieldAt(schemaOf(kind) ?? null, ...path.flatMap((name) => ['properties', name])) !== undefined,
  );
  return newest === undefined ? [] : [formatRelease(newest.release)];
}

/** The tag of Cluster API's image, `v1.11.3` of `registry.k8s.io/cluster-api/cluster-api-controller:v1.11.3@sha256:…`. */
function tagOfManager(container: Json): string {
  const [name = ''] = String(fieldAt(container, 'image')).split('@', 1);
  const [image = '', tag = ''] = name.slice(name.lastIndexOf('/') + 1).split(':', 2);
  return image.includes('cluster-api-controller') ? tag : '';
}

/**
 * The releases of the providers that clusterctl installed, by its names of them: `rke2`. Empty without its inventory, or if that
 * may not be read. Of a provider with several components, the oldest counts.
 *
 * @throws {ConnectionError} and the other errors of `KubernetesClient.request` that are not refusals.
 */
export async function installedProviders(cluster: KubernetesClient): Promise<Map<string, Release>> {
  const providers = new Map<string, Release>();
  try {
    const list = await cluster.request('GET', inventory);
    for (const one of itemsAt(fieldAt(list, 'items'))) {
      const [name, release] = [String(fieldAt(one, 'providerName')), parseRelease(String(fieldAt(one, 'version')))];
      const known = providers.get(name);
      if (release !== undefined && (known === undefined || compareReleases(release, known) < 0)) {
        providers.set(name, release);
      }
    }
  } catch (error) {
    if (!isStatus(error, 403, 404)) {
      throw error;
    }
  }
  return providers;
}

const labelledVersion = (object: Json) => fieldAt(object, 'metadata', 'labels', 'app.kubernetes.io/version') ?? '';

/**
 * The release of Cluster API that runs in a cluster; undefined if it is nowhere to be seen, or may not be read.
 *
 * @throws {ConnectionError} and the other errors of `KubernetesClient.request` that are not refusals.
 */
export async function installedRelease(cluster: KubernetesClient): Promise<Release | undefined> {
  for (const { path, versionsIn } of places) {
    try {
      const versions = versionsIn(await cluster.request('GET', path));
      const release = versions.flatMap((version) => parseRelease(String(version)) ?? [])[0];
      if (release !== undefined) {
        return release;
      }
    } catch (error) {
      if (!isStatus(error, 403, 404)) {
        throw error;
      }
    }
  }
  return undefined;
}
