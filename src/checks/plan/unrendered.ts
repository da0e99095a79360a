import { basename, dirname } from 'node:path';
import { count, printable } from '../../base/index.ts';
import { type Json, objectAt, textAt } from '../../kubernetes/index.ts';

/** A program that makes manifests of files that are none yet. */
export type Renderer = 'kustomize' | 'helm' | 'clusterctl';

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

export const isHelmTemplate = (text: string): boolean => helmAction.test(text);

/**
 * The program that has to render a document first; undefined if it can be read as it is.
 *
 * @param isOfHelm whether its file is a template of Helm.
 * @param value undefined if it is not valid YAML.
 */
export function rendererOf(file: string, isOfHelm: boolean, value: Json | undefined): Renderer | undefined {
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

/** What a file is for a program, and its command. */
const renderers: Readonly<Record<Renderer, { is: string; command: (file: string) => string }>> = {
  kustomize: { is: 'a kustomization', command: (file) => `kubectl kustomize ${dirname(file)}` },
  helm: { is: 'a template of Helm', command: () => 'helm template CHART' },
  clusterctl: {
    is: 'a template with variables of clusterctl or envsubst',
    command: (file) => `clusterctl generate yaml --from ${file}`,
  },
};

/** One line for each program that has to render files first, with its command. */
export function renderTexts(files: ReadonlyMap<string, Renderer>): string[] {
  return [...Map.groupBy(files, ([, renderer]) => renderer)].map(([renderer, of]) => {
    const [[first] = ['']] = of;
    const more = of.length === 1 ? '' : ` (and ${count(of.length - 1, 'more file')})`;
    return `${printable(first)}${more} is ${renderers[renderer].is}: render it first: ${printable(renderers[renderer].command(first))} | extensionconfig-webhook plan -f -`;
  });
}
