import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const files = [
  ...['package.json', 'package-lock.json', 'Dockerfile', 'README.md', 'tools/build/sdk-readme.md', 'docs/*.md'],
  ...['manifests/**/*.yaml', 'templates/extension/manifests/*.yaml'],
];

/** A version in the name of a Job: DNS labels have no dots. */
const inName = (version: string) => version.replaceAll('.', '-').toLowerCase();

/** How the version is written: image tags, names of tarballs and Jobs, the image's label, package.json and its lock. */
const places = (version: string): string[] => [
  `extensionconfig-webhook:${version}`,
  `extensionconfig-webhook-${version}.tgz`,
  `cluster-api-extension-${version}.tgz`,
  `newTag: ${version}`,
  `ARG VERSION=${version}`,
  `-bootstrap-${inName(version)}`,
  `-bootstrap-crd-${inName(version)}`,
  `"name": "extensionconfig-webhook",\n  "version": "${version}"`,
  `"name": "extensionconfig-webhook",\n      "version": "${version}"`,
];

/** The files of a checkout that have another text once its version is `to`, by path. */
export function withVersion(root: string, from: string, to: string): Map<string, string> {
  const after = places(to);
  const edits = new Map<string, string>();
  for (const path of globSync(files, { cwd: root }).toSorted()) {
    const text = readFileSync(join(root, path), 'utf8');
    const changed = places(from).reduce(
      (edited, place, index) => edited.replaceAll(place, after[index] ?? place),
      text,
    );
    if (changed !== text) {
      edits.set(path, changed);
    }
  }
  return edits;
}
