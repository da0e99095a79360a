import { type JsonObject, own, textAt } from '../../kubernetes/index.ts';
import type { Schema, SchemaOf } from '../../kubernetes/schema/index.ts';
import { compareReleases, newestKnownRelease, parseRelease, type Release } from '../../runtimehooks/index.ts';
import data from './cluster-api-schemas.json' with { type: 'json' };
import type { FieldType, SchemaTable } from './schema-table.ts';

const table = data as SchemaTable;

const uniqueNames = 'self.all(one, self.filter(other, other.name == one.name).size() == 1)';
const partitionTypes = ['Linux', 'LinuxSwap', 'LinuxRAID', 'LVM', 'Fat32', 'NTFS', 'LinuxExtended'];
const ownConditions = ['Ready', 'Available', 'HealthCheckSucceeded', 'OwnerRemediated', 'ExternallyRemediated'];
const listOf = (texts: readonly string[]): string => JSON.stringify(texts);

/** The rules of the schemas, by the message of Cluster API. */
const expressions: Readonly<Record<string, string>> = {
  'extraArgs name must be unique': uniqueNames,
  'kubeletExtraArgs name must be unique': uniqueNames,
  [`type must not be one of: ${ownConditions.join(', ')}`]: `!(self in ${listOf(ownConditions)})`,
  'key must be a valid qualified name of max size 63 characters with an optional subdomain prefix of max size 253 characters':
    "self.matches('^([^/]{0,253}/)?[^/]{0,63}$')",
  'partitionType must be one of Linux, LinuxSwap, LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a full GPT partition GUID': `self in ${listOf(partitionTypes)} || self.matches('^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$')`,
  'exactly one of the fields in [layout diskLayout] must be set': 'has(self.layout) != has(self.diskLayout)',
};

/** A rule, by its message. @throws {Error} when its expression is missing here. */
function ruleOf(message: string): object {
  const rule = own(expressions, message);
  if (rule === undefined) {
    throw new Error(`no expression for the rule ${JSON.stringify(message)}`);
  }
  return { rule, message };
}

const schemas = new Map<number, Schema>();

/** The schema of a type. Equal types have one schema, so that what is known of it (a pattern, its defaults) is known once. */
function schemaOf(type: number): Schema {
  let schema = schemas.get(type);
  if (schema === undefined) {
    schema = read(table.types[type] as FieldType);
    schemas.set(type, schema);
  }
  return schema;
}

function read({
  is,
  open,
  fields,
  of,
  keys,
  unique,
  whole,
  size,
  length,
  range,
  values,
  like,
  ...same
}: FieldType): Schema {
  const { rules, ...others } = same;
  const names = Object.entries(fields ?? {}).map(([name, type]) => [name.replace(/!$/, ''), schemaOf(type)] as const);
  const required = Object.keys(fields ?? {}).flatMap((name) => (name.endsWith('!') ? [name.slice(0, -1)] : []));
  const isList = is === 'array';
  const ends = ([least, greatest]: readonly (number | null | undefined)[], [low, high]: readonly [string, string]) => ({
    ...(typeof least === 'number' && { [low]: least }),
    ...(typeof greatest === 'number' && { [high]: greatest }),
  });
  return {
    ...(is === 'integer or string' ? { 'x-kubernetes-int-or-string': true } : is !== undefined && { type: is }),
    ...(open && { 'x-kubernetes-preserve-unknown-fields': true }),
    ...(fields && { properties: Object.fromEntries(names) }),
    ...(required.length > 0 && { required }),
    ...(of !== undefined && (isList ? { items: schemaOf(of) } : { additionalProperties: schemaOf(of) })),
    ...(keys && { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }),
    ...(unique && { 'x-kubernetes-list-type': 'set' }),
    ...(whole && { 'x-kubernetes-map-type': 'atomic' }),
    ...ends(size ?? [], isList ? ['minItems', 'maxItems'] : ['minProperties', 'maxProperties']),
    ...ends(length ?? [], ['minLength', 'maxLength']),
    ...ends(range ?? [], ['minimum', 'maximum']),
    ...(values && { enum: values }),
    ...(like !== undefined && { pattern: like }),
    ...(rules && { 'x-kubernetes-validations': rules.map(ruleOf) }),
    ...others,
  };
}

/** The type that a release has; undefined if it is older or newer than all that are known. */
function typeIn(releases: Readonly<Record<string, number>>, release: Release): number | undefined {
  if (compareReleases(release, newestKnownRelease) > 0) {
    return undefined;
  }
  const known = Object.entries(releases).findLast(
    ([name]) => compareReleases(parseRelease(name) as Release, release) <= 0,
  );
  return known?.[1];
}

/**
 * The schemas of Cluster API's own kinds in a release, in v1beta1 and v1beta2: those of its CustomResourceDefinitions, with
 * any status. Undefined for other kinds, and for releases before 1.12 or after the newest known one.
 */
export function clusterApiSchemaOf(release: Release): SchemaOf {
  return (object: JsonObject) => {
    const releases = own(table.kinds, `${textAt(object, 'apiVersion')} ${textAt(object, 'kind')}`);
    const type = releases && typeIn(releases, release);
    return type === undefined ? undefined : schemaOf(type);
  };
}
