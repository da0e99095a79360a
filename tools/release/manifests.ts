import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** Whether kubectl, which renders the manifests, is on the PATH. */
export function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** What clusterctl installs for a provider of Runtime Extensions, beside metadata.yaml. */
const clusterctlComponents = 'runtime-extension-components.yaml';

/** metadata.yaml: the contract of Cluster API that this series of releases is made for. */
export function clusterctlMetadata(version: string): string {
  const [major, minor] = version.split('.').map(Number);
  return stringify({
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ major, minor, contract: 'v1beta2' }],
  });
}

/** The kustomizations that users apply, by the name of the file that a release has of them. */
function kustomizations(root: string): Map<string, string> {
  const overlays = readdirSync(join(root, 'manifests/overlays')).map((name): [string, string] => [
    name === 'default' ? 'install.yaml' : `install-${name}.yaml`,
    `overlays/${name}`,
  ]);
  return new Map([
    ...overlays,
    [clusterctlComponents, 'overlays/default'],
    ['controller-secrets.yaml', 'controller-secrets'],
    ['plan.yaml', 'plan'],
  ]);
}

/**
 * Renders each overlay with kubectl.
 *
 * @param edits files of the checkout that differ in the release.
 * @param image name, tag and, once it has been pushed, digest of the image that the pods run.
 * @returns texts by file name.
 */
export function renderManifests(
  root: string,
  edits: ReadonlyMap<string, string>,
  image: { name: string; tag: string; digest?: string | undefined },
): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  try {
    cpSync(join(root, 'manifests'), join(folder, 'manifests'), { recursive: true });
    for (const [path, text] of edits) {
      if (path.startsWith('manifests/')) {
        writeFileSync(join(folder, path), text);
      }
    }
    mkdirSync(join(folder, 'release'));
    return new Map(
      [...kustomizations(root)].map(([file, path]) => {
        const kustomization = {
          apiVersion: 'kustomize.config.k8s.io/v1beta1',
          kind: 'Kustomization',
          resources: [`../manifests/${path}`],
          images: [
            {
              name: 'extensionconfig-webhook',
              newName: image.name,
              ...(image.digest === undefined ? { newTag: image.tag } : { digest: image.digest }),
            },
          ],
          ...(file === clusterctlComponents && {
            labels: [{ pairs: { 'cluster.x-k8s.io/provider': 'runtime-extension-extensionconfig-webhook' } }],
          }),
        };
        writeFileSync(join(folder, 'release/kustomization.yaml'), JSON.stringify(kustomization));
        return [file, execFileSync('kubectl', ['kustomize', join(folder, 'release')], { encoding: 'utf8' })];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
