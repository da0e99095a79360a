// node tools/generate/cluster-api-schemas.ts v1.13=FOLDER v1.14=FOLDER …
//
// Writes what the CustomResourceDefinitions of Cluster API's own kinds say about their fields, release by release: types,
// limits, defaults, and the messages of their rules; no descriptions, and no expressions. FOLDER: a checkout of a release.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { SchemaTable, SchemaType } from '../../src/topology/refusals/index.ts';

const file = new URL('../../src/topology/refusals/cluster-api-schemas.generated.json', import.meta.url);

const kinds = new Set([
  'Cluster',
  'ClusterClass',
  'KubeadmConfig',
  'KubeadmConfigTemplate',
  'KubeadmControlPlane',
  'KubeadmControlPlaneTemplate',
  'MachineDeployment',
  'MachineHealthCheck',
  'MachinePool',
]);

export interface Definition {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; served: boolean; schema: { openAPIV3Schema: Described } }[];
  };
}

/** A schema as a definition has it, with the keywords that Cluster API uses. */
export interface Described {
  type?: string;
  properties?: Record<string, Described>;
  required?: string[];
  items?: Described;
  additionalProperties?: Described | boolean;
  'x-kubernetes-validations'?: { message: string; rule: string }[];
  [keyword: string]: unknown;
}

/** The numbers of types: equal ones are one. */
class Types {
  readonly texts = new Map<string, number>();

  add({ description: _description, anyOf: _anyOf, ...described }: Described): number {
    const { properties, items, additionalProperties, 'x-kubernetes-validations': rules, ...keywords } = described;
    const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, this.add(field)]);
    const type: SchemaType = {
      ...keywords,
      ...(properties && { properties: Object.fromEntries(fields) }),
      ...(items && { items: this.add(items) }),
      ...(typeof additionalProperties === 'object' && { additionalProperties: this.add(additionalProperties) }),
      ...(rules && { rules: rules.map(({ message }) => message) }),
    };
    const text = JSON.stringify(type);
    const known = this.texts.get(text);
    if (known === undefined) {
      this.texts.set(text, this.texts.size);
    }
    return known ?? this.texts.size - 1;
  }
}

/** What is validated in an object besides its metadata: the status is not written with the rest. */
function ownFields({ properties = {}, ...root }: Described): Described {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, status, ...own } = properties;
  const open: Described = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return { ...root, properties: { ...own, ...(status && { status: open }) } };
}

/** The kinds of Cluster API among the definitions of each release, oldest first, as the text of the table. */
export function schemaTableText(releases: ReadonlyMap<string, readonly Definition[]>): string {
  const types = new Types();
  const table: SchemaTable['kinds'] = {};
  for (const [release, definitions] of releases) {
    for (const { spec } of definitions.filter((definition) => kinds.has(definition.spec.names.kind))) {
      for (const { name, schema } of spec.versions.filter(({ served }) => served)) {
        const key = `${spec.group}/${name} ${spec.names.kind}`;
        const type = types.add(ownFields(schema.openAPIV3Schema));
        const before = table[key] ?? {};
        const isSame = Object.values(before).at(-1) === type;
        table[key] = isSame ? before : { ...before, [release]: type };
      }
    }
  }
  const lines = Object.entries(table).map((entry) => entry.map((part) => JSON.stringify(part)).join(':'));
  return `{"kinds":{\n${lines.join(',\n')}\n},"types":[\n${[...types.texts.keys()].join(',\n')}\n]}\n`;
}

/** The definitions in a checkout of Cluster API. */
function definitionsIn(folder: string): Definition[] {
  const files = globSync('{,core/,bootstrap/kubeadm/,controlplane/kubeadm/}config/crd/bases/*.yaml', { cwd: folder });
  return files.sort().map((path) => parse(readFileSync(join(folder, path), 'utf8')) as Definition);
}

if (import.meta.main) {
  const releases = process.argv.slice(2).map((argument) => argument.split('=') as [string, string]);
  writeFileSync(file, schemaTableText(new Map(releases.map(([release, folder]) => [release, definitionsIn(folder)]))));
}
