import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether kubectl, which renders the manifests, is on the PATH. */
export function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The kustomizations that users apply, by the name of the file that a release has of them. */
function kustomizations(root: string): Map<string, string> {
  const overlays = readdirSync(join(root, 'manifests/overlays')).map((name): [string, string] => [
    name === 'default' ? 'install.yaml' : `install-${name}.yaml`,
    `overlays/${name}`,
  ]);
  return new Map([...overlays, ['preflight.yaml', 'preflight'], ['controller-secrets.yaml', 'controller-secrets']]);
}

/**
 * Renders each overlay with kubectl.
 *
 * @param edits files of the checkout that differ in the release.
 * @param image name and tag of the image that the pods run.
 * @returns texts by file name.
 */
export function renderManifests(
  root: string,
  edits: ReadonlyMap<string, string>,
  image: { name: string; tag: string },
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
          images: [{ name: 'extensionconfig-webhook', newName: image.name, newTag: image.tag }],
        };
        writeFileSync(join(folder, 'release/kustomization.yaml'), JSON.stringify(kustomization));
        return [file, execFileSync('kubectl', ['kustomize', join(folder, 'release')], { encoding: 'utf8' })];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
