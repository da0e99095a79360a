import { basename, dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { count, printable } from '../../../base/index.ts';
import type { StateExtensions } from '../../../checks/plan/index.ts';
import { type ExtensionConfig, isExtensionConfig, withAllDefaults } from '../../../extensionconfig/index.ts';
import {
  groupOf,
  type Json,
  type JsonObject,
  nameOf,
  objectAt,
  objectsAt,
  objectText,
  textAt,
} from '../../../kubernetes/index.ts';
import { readManifests } from '../../../kubernetes/manifests/index.ts';
import { prepared, unservedKind } from '../../../topology/index.ts';
import { type Io, UsageError } from '../../framework/program.ts';
import { readExtensionConfig } from '../read-extension-config.ts';

export interface Input {
  objects: JsonObject[];
  /** Where the objects are, by `objectText`. */
  places: Map<string, () => string>;
  problems: string[];
}

export const noInput = (): Input => ({ objects: [], places: new Map(), problems: [] });

/** A program that makes manifests of files that are none yet. */
type Renderer = 'kustomize' | 'helm' | 'clusterctl';

const kustomizationName = /^kustomization(?:\.ya?ml)?$/i;

/** Actions that only Helm knows. Those of Go's text/template also occur in the patches of ClusterClasses. */
const helmAction = /\{\{-?\s*(?:\.Values|\.Release|\.Chart|\.Capabilities|include\s|toYaml\s)/;

/** A whole value that clusterctl, envsubst or Flux would replace. Within longer texts it may be a shell's own. */
const variable = /^\$\{[A-Za-z_]\w*(?::?[-=][^}]*)?\}$/;
/** The same within a name, which no shell reads. */
const variableInName = /\$\{[A-Za-z_]/;

function hasVariable(value: unknown): boolean {
  if (typeof value === 'string') {
    return variable.test(value);
  }
  return typeof value === 'object' && value !== null && Object.values(value).some(hasVariable);
}

const isHelmTemplate = (text: string): boolean => helmAction.test(text);

/** The program that has to render a document first, if one must. `value`: undefined if it is not valid YAML. */
function rendererOf(file: string, isOfHelm: boolean, value: Json | undefined): Renderer | undefined {
  const { apiVersion, kind, metadata } = objectAt(value);
  const isKustomization = kind === 'Kustomization' && String(apiVersion).startsWith('kustomize.config.k8s.io/');
  if (isKustomization || kustomizationName.test(basename(file))) {
    return 'kustomize';
  }
  if (isOfHelm) {
    return 'helm';
  }
  const names = ['name', 'namespace'].map((field) => textAt(metadata, field));
  return hasVariable(value) || names.some((name) => variableInName.test(name)) ? 'clusterctl' : undefined;
}

const renderers: Readonly<Record<Renderer, { is: string; command: (file: string) => string }>> = {
  kustomize: { is: 'a kustomization', command: (file) => `kubectl kustomize ${dirname(file)}` },
  helm: { is: 'a template of Helm', command: () => 'helm template CHART' },
  clusterctl: {
    is: 'a template with variables of clusterctl or envsubst',
    command: (file) => `clusterctl generate yaml --from ${file}`,
  },
};

/** One line for each program that has to render files first, with its command. */
function renderTexts(files: ReadonlyMap<string, Renderer>): string[] {
  return [...Map.groupBy(files, ([, renderer]) => renderer)].map(([renderer, of]) => {
    const [[first] = ['']] = of;
    const more = of.length === 1 ? '' : ` (and ${count(of.length - 1, 'more file')})`;
    return `${printable(first)}${more} is ${renderers[renderer].is}: render it first: ${printable(renderers[renderer].command(first))} | extensionconfig-webhook plan -f -`;
  });
}

const keyOf = (object: JsonObject) => `${groupOf(object)} ${objectText(object)}`;

const notAnObject = 'not an object: write apiVersion, kind and metadata.name';

/** The objects in files. What cannot be used is a problem with its line, and the rest is read. */
export async function readFiles(flag: string, paths: readonly string[], io: Io): Promise<Input> {
  const input = noInput();
  const unrendered = new Map<string, Renderer>();
  const seen = new Map<string, () => string>();
  for await (const manifest of readManifests(paths, io.stdin as Readable, io.signal)) {
    const file = printable(manifest.file);
    if ('message' in manifest) {
      if (paths.includes(manifest.file)) {
        throw new UsageError(`${flag}: ${file}: ${manifest.message}`);
      }
      input.problems.push(`${file}: ${manifest.message}`);
      continue;
    }
    const isOfHelm = isHelmTemplate(manifest.text);
    for await (const read of manifest.documents()) {
      const value = 'errors' in read ? undefined : (read.document.value as Json);
      const renderer = rendererOf(manifest.file, isOfHelm, value);
      if (renderer !== undefined) {
        unrendered.set(manifest.file, renderer);
        continue;
      }
      const errors = 'errors' in read ? read.errors : read.document.refusals;
      input.problems.push(...errors.map(({ line, message }) => `${file}:${line}: ${printable(message)}`));
      if ('errors' in read) {
        continue;
      }
      if (read.document.objects.length === 0 && errors.length === 0 && read.document.value != null) {
        input.problems.push(`${file}:${read.part.firstLine}: ${notAnObject}`);
      }
      for (const { object, placeOf } of read.document.objects) {
        const place = () => `${file}:${placeOf([]).line}`;
        const missing = [['apiVersion'], ['kind'], ['metadata', 'name']].find((path) => textAt(object, ...path) === '');
        if (missing !== undefined) {
          const isOther = textAt(object, 'apiVersion') === '' && textAt(object, 'kind') === '';
          input.problems.push(
            isOther
              ? `${place()}: ${notAnObject}, or name folders that have only manifests`
              : `${place()}: the object has no ${missing.join('.')}: add it`,
          );
          continue;
        }
        const unserved = unservedKind(object);
        if (unserved !== undefined) {
          input.problems.push(`${place()}: ${printable(unserved)}`);
          continue;
        }
        const first = seen.get(keyOf(object));
        if (first !== undefined) {
          input.problems.push(`${place()}: ${printable(objectText(object))} is also in ${first()}: remove one of them`);
          continue;
        }
        seen.set(keyOf(object), place);
        input.places.set(objectText(object), place);
        input.objects.push(prepared(object));
      }
    }
  }
  io.signal.throwIfAborted();
  input.problems.push(...renderTexts(unrendered));
  return input;
}

/** Why Cluster API has not discovered an ExtensionConfig, by its status; undefined if it has, or if there is no status. */
function undiscoveredReason({ status }: JsonObject): string | undefined {
  const condition = objectsAt(status, 'conditions').find(({ type }) => type === 'Discovered');
  if (condition?.status === 'False') {
    return textAt(condition, 'message') || textAt(condition, 'reason') || 'its condition Discovered is False';
  }
  return condition !== undefined && objectsAt(status, 'handlers').length === 0 ? 'it has no handlers' : undefined;
}

/** The extensions that are called for a state, and the labels of its namespaces. */
export function extensionsIn(
  objects: readonly JsonObject[],
  { places, problems }: Input,
  changed: ReadonlySet<string>,
  areOthersCalled: boolean,
): StateExtensions {
  const configs: ExtensionConfig[] = [];
  const undiscovered = new Map<string, string>();
  for (const object of objects.filter(isExtensionConfig)) {
    const name = objectText(object);
    const reason = changed.has(nameOf(object)) ? undefined : undiscoveredReason(object);
    if (reason !== undefined) {
      undiscovered.set(nameOf(object), reason);
      continue;
    }
    try {
      configs.push(readExtensionConfig(withAllDefaults(object), places.get(name) ?? (() => name)));
    } catch (error) {
      if (!(error instanceof UsageError)) {
        throw error;
      }
      problems.push(error.message);
    }
  }
  const namespaces = objects.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace');
  const labels = namespaces.map(
    (one) => [nameOf(one), objectAt(one, 'metadata', 'labels') as Record<string, string>] as const,
  );
  const called = configs.filter(({ metadata }) => areOthersCalled || changed.has(metadata.name ?? ''));
  return { configs: called, namespaceLabels: new Map(labels), undiscovered };
}
