import { hash } from 'node:crypto';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  lastAppliedAnnotation,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  perObject,
  textAt,
} from '../kubernetes/index.ts';
import type { Schema, SchemaOf } from '../kubernetes/schema/index.ts';
import type { Blueprint } from './blueprint/blueprint.ts';
import { type Existing, machinesOf } from './desired/existing.ts';
import { type NameReading, OwnWordReads } from './templates/index.ts';
import type { ExistingMachine, GroupObjects } from './world/groups.ts';
import type { ClusterPlan } from './world/plan-document.ts';
import type { World } from './world/world.ts';

/** The words that one Cluster alone has, in the order in which they are met: its name, what begins with it, its endpoint. */
class OwnWords {
  readonly #name: string;
  readonly #pattern: RegExp;
  readonly #places = new Map<string, number>();

  constructor(name: string, host: string) {
    this.#name = name;
    const [ofName, ofHost] = [name, host].map((word) => word.replaceAll(/[^A-Za-z0-9-]/g, '\\$&'));
    const orHost = host === '' ? '' : `|${ofHost}(?![A-Za-z0-9])`;
    // In JSON, a line break before a word ends with a letter.
    const begin = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))`;
    this.#pattern = new RegExp(`${begin}(?:${ofName}(?![A-Za-z0-9])[A-Za-z0-9.-]*${orHost})`, 'g');
  }

  areIn(text: string): boolean {
    return text.search(this.#pattern) !== -1;
  }

  neutral(text: string): string {
    return text.replace(this.#pattern, (word) => {
      const place = this.#places.get(word) ?? this.#places.size;
      this.#places.set(word, place);
      return `\uE000${place} `;
    });
  }

  /** A text with the words of another Cluster in their places; a word that has none was made up, and begins with the name. */
  replacedBy(other: OwnWords, text: string): string {
    const words = [...other.#places.keys()];
    return text.replace(
      this.#pattern,
      (word) => words[this.#places.get(word) ?? -1] ?? `${other.#name}${word.slice(this.#name.length)}`,
    );
  }
}

const expiryAnnotation = 'machine.cluster.x-k8s.io/certificates-expiry';

/** An object without what a plan does not read of it: ids, times, and who wrote what. */
function readOf(object: JsonObject): Json {
  const { metadata, spec: _spec, status, ...rest } = object;
  const { uid, resourceVersion, creationTimestamp, managedFields, ownerReferences, ...own } = objectAt(metadata);
  const { [lastAppliedAnnotation]: _applied, [expiryAnnotation]: _expiry, ...annotations } = objectAt(own.annotations);
  const isOfMachine = textAt(object, 'kind').endsWith('Machine');
  const { providerID, ...spec } = objectAt(object, 'spec');
  const { conditions, certificatesExpiryDate, ...state } = objectAt(status);
  const owners = objectsAt({ ownerReferences: ownerReferences ?? null }, 'ownerReferences');
  return [
    rest,
    { ...own, annotations },
    owners.map(({ kind = '', name = '' }) => [kind, name]),
    isOfMachine ? spec : (object.spec ?? null),
    state,
    objectsAt(objectAt(status), 'conditions').map(({ lastTransitionTime: _time, ...condition }) => condition),
  ];
}

type Parts = readonly (Parts | JsonObject | Json | undefined)[];

const readIn = (parts: Parts): Json =>
  parts.map((part) =>
    Array.isArray(part) ? readIn(part as Parts) : isJsonObject(part) ? readOf(part) : ((part ?? null) as Json),
  );

const ofGroup = ({ object, bootstrap, infrastructure }: GroupObjects): Parts => [object, bootstrap, infrastructure];

function ageOrder(machines: readonly ExistingMachine[]): Json {
  const times = machines.map(({ machine }) => textAt(machine, 'metadata', 'creationTimestamp'));
  const sorted = [...new Set(times)].sort();
  return times.map((time) => sorted.indexOf(time));
}

function objectsOf(cluster: JsonObject, worlds: readonly [World, World], existing: Existing, isByAge: boolean): Parts {
  const groups = [existing.controlPlane, ...existing.workers.values()].map((objects): Parts => {
    if (objects === undefined) {
      return [];
    }
    const isControlPlane = objects === existing.controlPlane;
    const group = isControlPlane ? 'control-plane' : '';
    const named = { group, kind: textAt(objects.object, 'kind'), name: nameOf(objects.object) };
    const { machineSets, machines, end } = machinesOf(cluster, worlds[0], named);
    return [
      ofGroup(objects),
      machineSets.map(ofGroup),
      machines?.map((one): Parts => [one.machine, one.bootstrapConfig, one.infrastructureMachine]),
      isByAge && !isControlPlane && machines !== undefined ? ageOrder(machines) : null,
      end?.message,
    ];
  });
  const checks = worlds.map((world) => world.findOfCluster('MachineHealthCheck', cluster));
  return [existing.infrastructureCluster, groups, [...existing.workers.keys()], checks];
}

const classText = perObject((blueprint: Blueprint) =>
  JSON.stringify(blueprint, (_, value: unknown) => (value instanceof Map ? [...value] : value)),
);

const byAge = /"(?:Oldest|Newest)"/;
const isOrdered = perObject((blueprint: Blueprint) => byAge.test(classText(blueprint)));

/** What only the user writes, and what no word of a Cluster is taken out of: values of variables are checked by rules. */
function writtenText(cluster: JsonObject | undefined): string {
  const { topology = null, clusterNetwork = null } = objectAt(cluster, 'spec');
  return JSON.stringify([namespaceOf(cluster ?? {}), topology, clusterNetwork]);
}

const restOf = perObject((cluster: JsonObject): JsonObject => {
  const { topology: _topology, clusterNetwork: _network, ...spec } = objectAt(cluster, 'spec');
  return { ...cluster, spec };
});

export interface ReadCluster {
  was: JsonObject | undefined;
  wanted: JsonObject;
  existing: Existing;
  worlds: readonly [World, World];
  classes: readonly (Blueprint | undefined)[];
}

/** The names of Clusters that can be told from what is around them. */
const plainName = /^[a-z0-9](?:[a-z0-9.-]{0,200}[a-z0-9])?$/;

/** Longest host of a Cluster's endpoint, in characters: that of the schema in v1beta2. V8 makes no pattern of a far longer one. */
const maxHostLength = 512;

/** Letters, digits and length of a name, by which limits and patterns accept what contains it. */
const shapeOf = (name: string): string => name.replaceAll(/[a-z]/g, 'a').replaceAll(/[0-9]/g, '0');

/** What a Cluster has in common with those that differ in their words alone; undefined if its name is one of its class, too. */
function likenessOf({ was, wanted, existing, worlds, classes }: ReadCluster) {
  const name = nameOf(wanted);
  const host = textAt(was ?? wanted, 'spec', 'controlPlaneEndpoint', 'host');
  if (!plainName.test(name) || host.length > maxHostLength) {
    return undefined;
  }
  const words = new OwnWords(name, host);
  const ofClasses = classes.map((blueprint) => (blueprint === undefined ? '' : classText(blueprint)));
  const written = [writtenText(wanted), was === wanted ? '' : writtenText(was)];
  const shared = [...ofClasses, ...written];
  if (shared.some((text) => text.includes(name) && words.areIn(text))) {
    return undefined;
  }
  const deployments = [...existing.workers.values()].map(({ object }) => objectAt(object, 'spec', 'deletion'));
  const isByAge =
    classes.some((blueprint) => blueprint !== undefined && isOrdered(blueprint)) ||
    [...written, JSON.stringify(deployments)].some((text) => byAge.test(text));
  const parts = [
    restOf(wanted),
    was === wanted ? 'unchanged' : was && restOf(was),
    ...objectsOf(wanted, worlds, existing, isByAge),
  ];
  const own = neutralOf(wanted, parts, words);
  return { key: hash('sha256', [shapeOf(name), ...written, own.text].join('\n')), words: own.words };
}

/** The texts of the objects of Clusters without the words that are their own, until one of the objects is another. */
const known = new WeakMap<JsonObject, { flat: readonly unknown[]; text: string; words: OwnWords }>();

function neutralOf(cluster: JsonObject, parts: Parts, words: OwnWords): { text: string; words: OwnWords } {
  const flat = parts.flat(9);
  const last = known.get(cluster);
  if (last?.flat.length === flat.length && flat.every((part, index) => part === last.flat[index])) {
    return last;
  }
  const text = hash('sha256', words.neutral(JSON.stringify(readIn(parts))));
  const neutral = { flat, text, words };
  known.set(cluster, neutral);
  return neutral;
}

/** Rules that may accept the name of one Cluster and not that of another of the same shape. */
const nameRules = /"(?:pattern|enum|format|x-kubernetes-validations)"/;

/** Whether a provider's schema has rules for what a patch sets. Those of kubeadm's kinds do not look at names. */
function isChecked({ object, paths }: NameReading, schemaOf: SchemaOf): boolean {
  const schema = textAt(object, 'kind').startsWith('Kubeadm') ? undefined : schemaOf(object);
  return paths.some((path) => {
    let part: Schema | undefined = schema;
    for (const name of path.split('/').slice(1)) {
      if (part?.['x-kubernetes-validations'] !== undefined) {
        return true;
      }
      part = part?.properties?.[name] ?? part?.items ?? (part?.additionalProperties as Schema | undefined);
    }
    return part !== undefined && nameRules.test(JSON.stringify(part));
  });
}

function renamed(value: Json, name: string, other: string): Json {
  if (Array.isArray(value)) {
    return value.map((item) => renamed(item, name, other));
  }
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([field, one]) => [field, renamed(one, name, other)]))
    : value === name
      ? other
      : value;
}

/** Clusters that are planned alike, by the first of them. */
interface Kind {
  name: string;
  words: OwnWords;
  plan: Promise<{ text: string; readings: { reading: NameReading; outcome: string }[] } | undefined>;
  /** Whether the plan of the second one is the same; undefined before it is made. */
  isConfirmed?: boolean;
}

/** Maximum number of kinds that differ only in what patches make of names. */
const maxKinds = 10;

/** Plans Clusters that are alike in all that is read of them once, and gives each the plan with its own names. */
export class AlikeClusters {
  readonly #kinds = new Map<string, Kind[]>();
  readonly #schemaOf: SchemaOf;

  constructor(schemaOf: SchemaOf) {
    this.#schemaOf = schemaOf;
  }

  async plan(read: ReadCluster, planOwn: (reads?: OwnWordReads) => Promise<ClusterPlan>): Promise<ClusterPlan> {
    const likeness = likenessOf(read);
    if (likeness === undefined) {
      return planOwn();
    }
    const name = nameOf(read.wanted);
    const { key, words } = likeness;
    const kinds = this.#kinds.get(key) ?? [];
    this.#kinds.set(key, kinds);
    for (const kind of kinds) {
      const first = await kind.plan;
      if (first === undefined || kind.isConfirmed === false) {
        return planOwn();
      }
      const isAlike = first.readings.every(({ reading, outcome }) => {
        const variables = { ...reading.variables, builtin: renamed(reading.variables.builtin ?? {}, kind.name, name) };
        return reading.outcomeWith(variables) === kind.words.replacedBy(words, outcome);
      });
      if (isAlike) {
        const plan = kind.words.replacedBy(words, first.text);
        if (kind.isConfirmed === true) {
          return JSON.parse(plan) as ClusterPlan;
        }
        const own = await planOwn();
        kind.isConfirmed = JSON.stringify(own) === plan;
        return own;
      }
    }
    if (kinds.length === maxKinds) {
      return planOwn();
    }
    const reads = new OwnWordReads(name, textAt(read.was ?? read.wanted, 'metadata', 'uid'));
    const own = planOwn(reads);
    const plan = own.then((made) =>
      reads.hasMore || reads.readings.some((reading) => isChecked(reading, this.#schemaOf))
        ? undefined
        : {
            text: JSON.stringify(made),
            readings: reads.readings.map((reading) => ({ reading, outcome: reading.outcomeWith(reading.variables) })),
          },
    );
    kinds.push({ name, words, plan });
    await plan;
    return own;
  }
}
