import { createHash } from 'node:crypto';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packages } from '../build/packages.ts';

interface Step {
  name?: string;
  run?: string;
  with?: Record<string, unknown>;
}

const read = (...path: string[]) => readFileSync(join(...path), 'utf8');

/** The images that Dockerfiles build on, ours and that of new extensions, whose tags somebody else can move. */
function* baseImages(root: string): Generator<string> {
  for (const file of ['Dockerfile', 'templates/extension/Dockerfile']) {
    const dockerfile = read(root, file);
    for (const [, name, image] of dockerfile.matchAll(/^ARG (\w+_IMAGE)=(.+)$/gm)) {
      if (!/@sha256:[0-9a-f]{64}$/.test(String(image))) {
        yield `${file}: ${name}=${image} is not pinned by digest: append @ and the digest that "docker buildx imagetools inspect" prints for it`;
      }
    }
    for (const [line, image] of dockerfile.matchAll(/^FROM (?:--platform=\S+ )?([^$\s]+[:/]\S*)/gm)) {
      if (!/@sha256:[0-9a-f]{64}$/.test(String(image))) {
        yield `${file}: "${line}" is not pinned by digest`;
      }
    }
  }
}

/** Actions, downloads, and what the release signs. */
function* workflows(root: string): Generator<string> {
  const folder = join(root, '.github/workflows');
  const published: Step[] = [];
  for (const file of readdirSync(folder).toSorted()) {
    const text = read(folder, file);
    for (const [, action = ''] of text.matchAll(/\buses: (\S+)/g)) {
      if (!action.startsWith('./') && !/@[0-9a-f]{40}$/.test(action)) {
        yield `${file}: the action ${action} is not pinned: write the 40 digits of its commit`;
      }
    }
    const { jobs } = parse(text) as { jobs: Record<string, { steps?: Step[] }> };
    const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);
    for (const { run = '', name = run } of steps) {
      if (/\b(curl|wget|gh release download)\b/.test(run) && !/\bsha256sum --check\b/.test(run)) {
        yield `${file}: step "${name.slice(0, 60)}" downloads without a checksum: compare it with sha256sum --check`;
      }
    }
    if (file === 'release.yml') {
      published.push(...steps);
    }
  }
  const text = JSON.stringify(published);
  for (const [what, sign] of [
    ['npm packages have no provenance', 'npm publish \\"./$tarball\\" --provenance'],
    ['the image has no provenance', '"provenance":"mode=max"'],
    ['the image has no bill of materials', '"sbom":true'],
    ['the image is not signed', 'cosign sign'],
    ['what the image contains is not attested', 'cosign attest'],
  ] as const) {
    if (!text.includes(sign)) {
      yield `release.yml: ${what}: it lacks ${sign.replaceAll('\\', '')}`;
    }
  }
}

/** Packages come by hash, and from the registry of the reader: the lockfile names none. */
function* lockfile(root: string): Generator<string> {
  const { packages: locked } = JSON.parse(read(root, 'package-lock.json')) as {
    packages: Record<string, { resolved?: string; integrity?: string }>;
  };
  for (const [path, { resolved, integrity }] of Object.entries(locked)) {
    if (path !== '' && (integrity === undefined || resolved !== undefined)) {
      yield `package-lock.json: ${path} has no hash, or names a server: install it from the registry`;
    }
  }
}

/** Why the checkout is not fit for a release: something that somebody else can change later. */
export const unpinned = (root: string): string[] => [...baseImages(root), ...workflows(root), ...lockfile(root)];

/** Why a folder that was written is not a whole release. */
export function* incomplete(root: string, folder: string, version: string): Generator<string> {
  const files = readdirSync(folder);
  const overlays = readdirSync(join(root, 'manifests/overlays'));
  const expected = [
    ...overlays.map((name) => (name === 'default' ? 'install.yaml' : `install-${name}.yaml`)),
    ...['controller-secrets.yaml', 'plan.yaml', 'runtime-extension-components.yaml', 'metadata.yaml', 'krew.yaml'],
    ...packages.map(({ name }) => `${name}-${version}.tgz`),
    ...[...packages.map(({ name }) => name), 'image'].map((name) => `${name}-${version}.cdx.json`),
    ...['release-notes.md', 'SHA256SUMS'],
  ];
  yield* expected.filter((file) => !files.includes(file)).map((file) => `${file} is missing`);
  for (const file of globSync('*.yaml', { cwd: folder })) {
    for (const [, image = ''] of read(folder, file).matchAll(/^ +(?:- )?image: (\S+)$/gm)) {
      if (!/@sha256:[0-9a-f]{64}$/.test(image)) {
        yield `${file}: the image ${image} has no digest: pass --digest`;
      }
    }
  }
  if (files.includes('SHA256SUMS')) {
    const sums = new Map(
      read(folder, 'SHA256SUMS')
        .trimEnd()
        .split('\n')
        .map((line) => [line.slice(66), line.slice(0, 64)]),
    );
    for (const file of files.filter((name) => name !== 'SHA256SUMS')) {
      const sum = createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex');
      if (sums.get(file) !== sum) {
        yield `SHA256SUMS has ${sums.has(file) ? 'another sum of' : 'no sum of'} ${file}`;
      }
    }
  }
}
