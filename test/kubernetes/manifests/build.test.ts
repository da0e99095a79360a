import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { needs } from '../../support/needs.ts';
import { testRows } from '../../support/rows.ts';
import {
  buildOverlay,
  idOf,
  type Manifest,
  manifestsFolder,
  overlays,
  readKustomization,
  readManifests,
} from './kustomization.ts';
import { foreignKinds, schemaProblems } from './schemas.ts';

const trees = ['base', 'components', 'overlays', 'crd', 'controller-secrets', 'plan'];
/** Kustomizations that are applied, besides the overlays. */
const others = ['controller-secrets/kustomization.yaml', 'plan/kustomization.yaml', 'plan/dry-run/kustomization.yaml'];
const files = trees.flatMap((folder) =>
  readdirSync(join(manifestsFolder, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name)),
);

/** Most documents are the same in all overlays. */
const documents = new Map<string, Manifest>();
function parsed(text: string): Manifest {
  const object = documents.get(text) ?? (parse(text) as Manifest);
  documents.set(text, object);
  return object;
}

function sorted(objects: readonly Manifest[]): Manifest[] {
  return [...objects].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

test('every file is part of a kustomization, and every kustomization part of an overlay', () => {
  const folders = files.filter((file) => file.endsWith('/kustomization.yaml')).map(dirname);
  const used = new Set<string>();
  for (const folder of folders) {
    const { resources = [], components = [], configMapGenerator = [] } = readKustomization(folder);
    const generated = configMapGenerator.flatMap(({ files: sources }) =>
      sources.map((source) => source.split('=').at(-1)!),
    );
    for (const path of [...resources, ...components, ...generated]) {
      used.add(resolve(folder, path));
    }
  }
  const unused = files.filter((file) => {
    const isKustomization = file.endsWith('/kustomization.yaml');
    const path = relative(manifestsFolder, file);
    const isApplied = path.startsWith('overlays/') || others.includes(path);
    return !isApplied && !used.has(isKustomization ? dirname(file) : file);
  });
  expect(unused).toEqual([]);
});

describe.each(overlays)('overlay %s', (name) => {
  const objects = buildOverlay(name);

  test('contains every object once', () => {
    const ids = objects.map(idOf);
    expect(ids).toEqual([...new Set(ids)]);
  });

  const own = objects.filter(({ kind }) => !foreignKinds.has(kind));

  testRows(
    "matches Kubernetes' schema",
    own.map((object) => [idOf(object), object] as const),
    (object) => expect(schemaProblems(object)).toEqual([]),
  );

  test('is built by kubectl in the same way, the namespace first', needs('kubectl'), () => {
    const text = execFileSync('kubectl', ['kustomize', join(manifestsFolder, 'overlays', name)], { encoding: 'utf8' });
    const built = text.split('\n---\n').map(parsed);
    expect(sorted(built)).toEqual(sorted(objects));
    expect(built[0]?.kind).toBe('Namespace');
  });
});

test('an invalid manifest is detected: the schema check can fail', () => {
  const [deployment] = readManifests(join(manifestsFolder, 'base/deployment.yaml')) as [Manifest];
  deployment.spec.template.spec.containers[0].imagePulPolicy = 'Always';
  deployment.spec.replicas = 'two';
  expect(schemaProblems(deployment)).toEqual([
    'Deployment.spec.template.spec.containers[0].imagePulPolicy is unknown',
    expect.stringMatching(/replicas must be integer/),
  ]);
  expect(schemaProblems({ ...deployment, kind: 'Deploymint' })).toEqual([expect.stringMatching(/is not a kind/)]);
});

test('everything that the manifests refer to exists', () => {
  expect(existsSync(join(manifestsFolder, 'crd/runtime.cluster.x-k8s.io_extensionconfigs.yaml'))).toBe(true);
});
