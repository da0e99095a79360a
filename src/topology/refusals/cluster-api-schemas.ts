import { charactersIn, didYouMean } from '../../base/index.ts';
import type { ValidationRule } from '../../kubernetes/cel/index.ts';
import {
  fieldAt,
  groupOf,
  type Json,
  type JsonObject,
  objectsAt,
  own,
  perObject,
  textAt,
} from '../../kubernetes/index.ts';
import type { Schema, SchemaOf } from '../../kubernetes/schema/index.ts';
import {
  compareReleases,
  coreGroup,
  newestKnownRelease,
  parseRelease,
  type Release,
} from '../../runtimehooks/index.ts';
import data from './cluster-api-schemas.generated.json' with { type: 'json' };

/** The schema of a type of the table: its fields, items and values are numbers of others, and its rules are messages. */
export interface SchemaType extends Omit<Schema, 'properties' | 'items' | 'additionalProperties'> {
  properties?: Record<string, number>;
  items?: number;
  additionalProperties?: number;
  rules?: string[];
}

/** The schemas of Cluster API's own kinds, as in cluster-api-schemas.generated.json. */
export interface SchemaTable {
  /** By `GROUP/VERSION KIND`: the type of each release, `v1.13`, that differs from the one before. */
  kinds: Record<string, Record<string, number>>;
  types: SchemaType[];
}

const table = data as SchemaTable;

const namesOf = (list: Json): string[] => objectsAt(list).map((item) => textAt(item, 'name'));
const haveOwnNames = (list: Json): boolean => new Set(namesOf(list)).size === namesOf(list).length;
const isOneOf = (...texts: readonly Json[]) => {
  const known = new Set(texts);
  return (value: Json): boolean => known.has(value);
};

const isPartitionName = isOneOf('Linux', 'LinuxSwap', 'LinuxRAID', 'LVM', 'Fat32', 'NTFS', 'LinuxExtended');
const guid = /^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;
const isOwnCondition = isOneOf(
  ...['Ready', 'Available', 'HealthCheckSucceeded', 'OwnerRemediated', 'ExternallyRemediated'],
);

/** Whether a key has at most 63 characters, or a domain of at most 253 before them. */
function isQualifiedKey(value: Json): boolean {
  const parts = String(value).split('/').toReversed();
  return parts.length <= 2 && parts.every((part, index) => charactersIn(part) <= (index === 0 ? 63 : 253));
}

/** The rules of the schemas, by the message of Cluster API: whether they hold for a value. */
const rules: Readonly<Record<string, (value: Json) => boolean>> = {
  'extraArgs name must be unique': haveOwnNames,
  'kubeletExtraArgs name must be unique': haveOwnNames,
  'type must not be one of: Ready, Available, HealthCheckSucceeded, OwnerRemediated, ExternallyRemediated': (value) =>
    !isOwnCondition(value),
  'key must be a valid qualified name of max size 63 characters with an optional subdomain prefix of max size 253 characters':
    isQualifiedKey,
  'partitionType must be one of Linux, LinuxSwap, LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a full GPT partition GUID':
    (value) => isPartitionName(value) || guid.test(String(value)),
  'exactly one of the fields in [layout diskLayout] must be set': (value) =>
    (fieldAt(value, 'layout') === undefined) !== (fieldAt(value, 'diskLayout') === undefined),
};

function ruleOf(message: string): ValidationRule {
  const holds = own(rules, message);
  if (holds === undefined) {
    throw new Error(`the rule ${JSON.stringify(message)} is not known`);
  }
  return { rule: '', message, holds };
}

/** Equal types have one schema, so that what is known of it (a pattern, its defaults) is known once. */
const schemaOfType = perObject(
  ({ properties, items, additionalProperties, rules: messages, ...keywords }: SchemaType): Schema => {
    const fields = Object.entries(properties ?? {}).map(([name, type]) => [name, schemaAt(type)] as const);
    return {
      ...keywords,
      ...(properties && { properties: Object.fromEntries(fields) }),
      ...(items !== undefined && { items: schemaAt(items) }),
      ...(additionalProperties !== undefined && { additionalProperties: schemaAt(additionalProperties) }),
      ...(messages && { 'x-kubernetes-validations': messages.map(ruleOf) }),
    };
  },
);

const schemaAt = (type: number): Schema => schemaOfType(table.types[type] as SchemaType);

function typeIn(releases: Readonly<Record<string, number>>, release: Release): number | undefined {
  if (compareReleases(release, newestKnownRelease) > 0) {
    return undefined;
  }
  const known = Object.entries(releases).findLast(
    ([name]) => compareReleases(parseRelease(name) as Release, release) <= 0,
  );
  return known?.[1];
}

/** The schemas of Cluster API's own kinds in a release from 1.12 on, in v1beta1 and v1beta2, with any status. */
export function clusterApiSchemaOf(release: Release): SchemaOf {
  return (object: JsonObject) => {
    const releases = own(table.kinds, `${textAt(object, 'apiVersion')} ${textAt(object, 'kind')}`);
    const type = releases && typeIn(releases, release);
    return type === undefined ? undefined : schemaAt(type);
  };
}

/** Kinds of Cluster API's core group whose schemas the table does not have. */
const otherKinds = ['Machine', 'MachineDrainRule', 'MachineSet'];

/** `GROUP/VERSION KIND` of what Cluster API's releases from 1.12 on serve: older versions than v1beta1 are not. */
const served: readonly string[] = [
  ...Object.keys(table.kinds),
  ...otherKinds.flatMap((kind) => ['v1beta1', 'v1beta2'].map((version) => `${coreGroup}/${version} ${kind}`)),
];

/**
 * Why an API server with Cluster API does not know the kind of an object, in kubectl's words: the core group does not have it,
 * or no release serves its version. Undefined if it does, and for kinds of others.
 */
export function unservedKind(object: JsonObject): string | undefined {
  const [apiVersion, kind, group] = [textAt(object, 'apiVersion'), textAt(object, 'kind'), groupOf(object)];
  const ofGroup = served.filter((name) => name.startsWith(`${group}/`)).map((name) => name.split(' '));
  const versions = ofGroup.filter(([, name]) => name === kind).map(([version = '']) => version);
  if (versions.includes(apiVersion) || (versions.length === 0 && group !== coreGroup)) {
    return undefined;
  }
  const kinds = [...new Set(ofGroup.map(([, name = '']) => name))];
  const remedy =
    versions.length > 0 ? `write ${versions.join(' or ')}` : didYouMean(kind, kinds, `it has ${kinds.join(', ')}`);
  return `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}: ${remedy}`;
}
