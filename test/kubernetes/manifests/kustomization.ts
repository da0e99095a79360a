import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyPatch, type Operation } from 'rfc6902';
import { parse, parseAllDocuments } from 'yaml';

/** A Kubernetes object in a manifest. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: tests look deep into objects of many kinds, and fail on what is not there.
  [field: string]: any;
}

/**
 * The part of a kustomization that ours use; anything else is an error, so that a test never builds less than kubectl.
 */
interface Kustomization {
  apiVersion: string;
  kind: 'Kustomization' | 'Component';
  resources?: string[];
  components?: string[];
  patches?: {
    target: { group: string; kind: string; name: string };
    patch: string;
    options?: { allowNameChange: true };
  }[];
  configMapGenerator?: {
    name: string;
    namespace: string;
    files: string[];
    options: { disableNameSuffixHash: true; labels: Record<string, string> };
  }[];
}

const known = new Set(['apiVersion', 'kind', 'resources', 'components', 'patches', 'configMapGenerator']);

/** The folder `manifests`. */
export const manifestsFolder = fileURLToPath(new URL('../../../manifests', import.meta.url));

export const overlays = [
  'default',
  'cert-manager',
  'with-crd',
  'monitoring',
  'cluster-facts',
  'repair',
  'impact',
  'controller-discover',
  'controller-discover-narrow',
  'openshift',
] as const;

/** An object's kind and name, which are unique in an installation. */
export function idOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}

/** The objects of each file that was read: all overlays share the base. */
const read = new Map<string, Manifest[]>();

/** The objects of a YAML file. */
export function readManifests(file: string): Manifest[] {
  let objects = read.get(file);
  if (objects === undefined) {
    objects = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Manifest);
    read.set(file, objects);
  }
  // A copy, because patches change it.
  return structuredClone(objects);
}

export function readKustomization(folder: string): Kustomization {
  const file = join(folder, 'kustomization.yaml');
  const kustomization = parse(readFileSync(file, 'utf8')) as Kustomization;
  for (const key of Object.keys(kustomization)) {
    if (!known.has(key)) {
      throw new Error(`${file}: ${key} is not built by this test`);
    }
  }
  return kustomization;
}

function groupOf({ apiVersion }: Manifest): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

function matches(pattern: string, text: string): boolean {
  return new RegExp(`^(?:${pattern})$`).test(text);
}

/** Builds a kustomization as `kubectl kustomize` does, for the features that ours use, without sorting the objects. */
export function buildKustomization(folder: string, into: Manifest[] = []): Manifest[] {
  const kustomization = readKustomization(folder);
  for (const resource of kustomization.resources ?? []) {
    const path = join(folder, resource);
    if (statSync(path).isDirectory()) {
      buildKustomization(path, into);
    } else {
      into.push(...readManifests(path));
    }
  }
  for (const { name, namespace, files, options } of kustomization.configMapGenerator ?? []) {
    const entries = files.map((entry) => {
      const [key, file] = entry.includes('=') ? (entry.split('=') as [string, string]) : [basename(entry), entry];
      return [key, readFileSync(join(folder, file), 'utf8')];
    });
    into.push({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels: options.labels },
      data: Object.fromEntries(entries),
    });
  }
  for (const component of kustomization.components ?? []) {
    buildKustomization(join(folder, component), into);
  }
  for (const { target, patch } of kustomization.patches ?? []) {
    for (const object of into) {
      if (
        groupOf(object) === target.group &&
        matches(target.kind, object.kind) &&
        matches(target.name, object.metadata.name)
      ) {
        for (const problem of applyPatch(object, parse(patch) as Operation[])) {
          if (problem !== null) {
            throw new Error(`${folder}: a patch does not fit ${idOf(object)}: ${problem.message}`);
          }
        }
      }
    }
  }
  return into;
}

/** The objects of an overlay. */
export function buildOverlay(name: (typeof overlays)[number]): Manifest[] {
  return buildKustomization(join(manifestsFolder, 'overlays', name));
}

/** The only object with a kind and name; fails if there is none. */
export function find(objects: readonly Manifest[], kind: string, name = 'extensionconfig-webhook'): Manifest {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) {
    throw new Error(`there is no ${kind} ${name}`);
  }
  return found;
}
