import { stringify } from 'yaml';

/**
 * The manifest of the kubectl plugin for krew's index (https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/):
 * the npm package as it is, for systems that start a script by its first line.
 */
export function krewManifest(release: {
  version: string;
  address: string;
  sha256: string;
  oldestNode: number;
}): string {
  const { version, address, sha256, oldestNode } = release;
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'extensionconfig' },
    spec: {
      version: `v${version}`,
      homepage: address,
      shortDescription: 'Check Runtime Extensions of Cluster API',
      description:
        "Checks ExtensionConfigs of Cluster API in files and clusters, calls the extensions that they register, tests how these behave, rehearses a Cluster's lifecycle with them, and finds those that block an upgrade of Cluster API.\n",
      caveats: `Needs Node.js ${oldestNode} or newer on the PATH.\n`,
      platforms: [
        {
          selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
          uri: `${address}/releases/download/v${version}/extensionconfig-webhook-${version}.tgz`,
          sha256,
          // An npm package has all of its files in the folder `package`.
          files: [{ from: 'package/*', to: '.' }],
          bin: 'bin/kubectl-extensionconfig',
        },
      ],
    },
  });
}
