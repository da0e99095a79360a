import { isStatus, type KubernetesClient } from '../kubernetes/client/index.ts';
import { fieldAt, itemsAt, type Json } from '../kubernetes/index.ts';
import { parseRelease, type Release } from '../runtimehooks/index.ts';

/** Where the release of Cluster API's core manager can be read, and how; the most reliable place first. */
const places: readonly { path: string; versionsIn(answer: Json): Json[] }[] = [
  {
    // The inventory that clusterctl keeps.
    path: '/apis/clusterctl.cluster.x-k8s.io/v1alpha3/providers',
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
    // Its CustomResourceDefinitions, which installers other than clusterctl label.
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.cluster.x-k8s.io',
    versionsIn: (definition) => [labelledVersion(definition)],
  },
];

/** The tag of Cluster API's image, `v1.11.3` of `registry.k8s.io/cluster-api/cluster-api-controller:v1.11.3@sha256:…`. */
function tagOfManager(container: Json): string {
  const [name = ''] = String(fieldAt(container, 'image')).split('@', 1);
  const [image = '', tag = ''] = name.slice(name.lastIndexOf('/') + 1).split(':', 2);
  return image.includes('cluster-api-controller') ? tag : '';
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
