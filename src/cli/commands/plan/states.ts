import { count, printable, shortList } from '../../../base/index.ts';
import { createHiding, recordedObjects, sampleCluster } from '../../../checks/plan/index.ts';
import {
  applyMergePatch,
  groupOf,
  isJsonObject,
  type Json,
  type JsonObject,
  nameOf,
  namespacedName,
  namespaceOf,
  objectAt,
  objectsAt,
  objectText,
  readLabelSelector,
  textAt,
  textValues,
} from '../../../kubernetes/index.ts';
import { coreGroup } from '../../../runtimehooks/index.ts';
import { classNameOf, definitionNotes, layered } from '../../../topology/index.ts';
import { FailureError } from '../../framework/program.ts';
import type { PlanFlags } from './flags.ts';
import type { Source } from './source.ts';

export type States = ReturnType<typeof statesOf>;

const isCluster = (object: JsonObject): boolean => object.kind === 'Cluster' && groupOf(object) === coreGroup;

/** The Cluster with a version and values of variables, or of parts of them (names have no dots); itself if it has no topology. */
function edited(
  cluster: JsonObject,
  version: string | undefined,
  variables: ReadonlyMap<string, Json>,
  ignored: ReadonlySet<string>,
): JsonObject {
  const spec = objectAt(cluster, 'spec');
  if (!isJsonObject(spec.topology)) {
    return cluster;
  }
  const values = new Map(objectsAt(spec.topology, 'variables').map((one) => [textAt(one, 'name'), one]));
  for (const [path, value] of variables) {
    const [name, ...fields] = path.split('.') as [string, ...string[]];
    if (ignored.has(name)) {
      continue;
    }
    const known = values.get(name) ?? { name };
    const patch = fields.reduceRight<Json>((inner, field) => ({ [field]: inner }), value);
    values.set(name, { ...known, value: fields.length === 0 ? value : applyMergePatch(known.value ?? {}, patch) });
  }
  const topology = {
    ...spec.topology,
    ...(version !== undefined && { version }),
    ...(variables.size > 0 && values.size > 0 && { variables: [...values.values()] }),
  };
  return { ...cluster, spec: { ...spec, topology } };
}

const classesOf = (objects: readonly JsonObject[]): Map<string, string> =>
  new Map(objects.filter(isCluster).map((one) => [namespacedName(one), classNameOf(one).split('/')[1] ?? '']));

function withExtensions(
  objects: readonly JsonObject[],
  extensions: readonly { name: string; url: string }[],
): readonly JsonObject[] {
  const isOf = (name: string) => (object: JsonObject) => object.kind === 'ExtensionConfig' && nameOf(object) === name;
  return extensions.reduce<readonly JsonObject[]>((all, { name, url }) => {
    const known = all.find(isOf(name));
    const caBundle = textAt(known, 'spec', 'clientConfig', 'caBundle');
    const object: JsonObject = {
      ...(known ?? { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'ExtensionConfig', metadata: { name } }),
      spec: { ...objectAt(known, 'spec'), clientConfig: { url, ...(caBundle !== '' && { caBundle }) } },
    };
    return [...all.filter((one) => one !== known), object];
  }, objects);
}

function chooser({ cluster: names, namespace, selector }: PlanFlags): (cluster: JsonObject) => boolean {
  const selects = selector === undefined ? undefined : readLabelSelector(selector);
  return (cluster) =>
    (names.length === 0 || names.includes(namespacedName(cluster))) &&
    (namespace === undefined || namespace === namespaceOf(cluster)) &&
    (typeof selects !== 'function' || selects(textValues(objectAt(cluster, 'metadata', 'labels'))));
}

/** Which Clusters the flags leave out. @throws {FailureError} if they choose none. */
function leftOut(flags: PlanFlags, all: readonly string[], chosen: ReadonlySet<string>): string[] {
  const missing = flags.cluster.find((name) => !all.includes(name));
  const others = all.length === 0 ? 'is none' : `is ${shortList(all.map(printable), 5)}`;
  if (missing !== undefined) {
    throw new FailureError(`--cluster: there is no Cluster ${printable(missing)}; there ${others}`);
  }
  const reasons = [
    ...(flags.cluster.length > 0 ? ['--cluster names others'] : []),
    ...(flags.namespace === undefined ? [] : [`-n names the namespace ${printable(flags.namespace)}`]),
    ...(flags.selector === undefined ? [] : [`-l selects ${printable(flags.selector)}`]),
  ].join(', ');
  if (chosen.size === 0 && reasons !== '') {
    throw new FailureError(`no Cluster is left: ${reasons}; there ${others}`);
  }
  const left = all.length - chosen.size;
  return left === 0 ? [] : [`${count(left, 'Cluster')} left out: ${reasons}`];
}

const missingVariables = (clusterClass: JsonObject): string[] =>
  objectsAt(clusterClass, 'spec', 'variables')
    .filter(
      (variable) => variable.required === true && objectAt(variable, 'schema', 'openAPIV3Schema').default === undefined,
    )
    .map((variable) => textAt(variable, 'name'));

const classesIn = (objects: Iterable<JsonObject>): JsonObject[] =>
  [...objects].filter((object) => object.kind === 'ClusterClass' && groupOf(object) === coreGroup);

/** The Clusters that are planned for classes without any, and what is missing for others. */
function samplesOf(
  objects: readonly JsonObject[],
  given: ReadonlySet<string>,
): { samples: JsonObject[]; problems: string[] } {
  const samples: JsonObject[] = [];
  const problems: string[] = [];
  for (const clusterClass of classesIn(objects)) {
    const missing = missingVariables(clusterClass).filter((name) => !given.has(name));
    if (missing.length === 0) {
      samples.push(sampleCluster(clusterClass));
    } else {
      const [first = ''] = missing;
      problems.push(
        `${printable(objectText(clusterClass))} requires the variable${missing.length === 1 ? '' : 's'} ${shortList(missing.map(printable), 5)}: pass a Cluster, or values, such as --set-variable ${printable(first)}=JSON`,
      );
    }
  }
  return { samples, problems };
}

/** The objects before and after, and which Clusters are planned. @throws {FailureError} if the flags name none that exists. */
export function statesOf(source: Source, flags: PlanFlags) {
  const { before: from, change } = source;
  const isChosen = chooser(flags);
  const variables = new Map(flags['set-variable'].map(({ name, value }) => [name, value]));
  const version = flags['set-version'];
  /** Of classes that are planned without Clusters, one need not have the variables of another. */
  const ofOtherClasses = (cluster: JsonObject): Set<string> => {
    const classes = samples.length === 0 ? [] : classesIn(applied);
    const isOwn = (one: JsonObject) => namespacedName(one) === namespacedName(cluster);
    const namesIn = (some: readonly JsonObject[]) =>
      some.flatMap((one) => objectsAt(one, 'spec', 'variables').map((variable) => textAt(variable, 'name')));
    const own = new Set(namesIn(classes.filter(isOwn)));
    return new Set(namesIn(classes.filter((one) => !isOwn(one))).filter((name) => !own.has(name)));
  };
  const withEdits = (objects: readonly JsonObject[]) =>
    version === undefined && variables.size === 0
      ? objects
      : objects.map((object) =>
          isCluster(object) && isChosen(object) ? edited(object, version, variables, ofOtherClasses(object)) : object,
        );
  const kept: string[] = [];
  const shared: string[] = [];
  const applying = {
    fieldManager: flags['field-manager'],
    onKept: (object: JsonObject, fields: readonly string[]) =>
      kept.push(`${printable(objectText(object))} (${shortList(fields.map(printable), 3)})`),
    onSeveral: (object: JsonObject, managers: readonly string[]) =>
      shared.push(`${printable(objectText(object))} (${shortList(managers.map(printable), 3)})`),
  };
  const applied = layered(from.objects, change.objects, applying);
  const hasClusters = applied.some(isCluster);
  const { samples, problems } = hasClusters
    ? { samples: [], problems: [] }
    : samplesOf(applied, new Set([...variables.keys()].map((path) => path.split('.')[0] ?? '')));
  const knownClasses = new Set(classesIn(from.objects).map(namespacedName));
  const isKnown = (sample: JsonObject) => knownClasses.has(namespacedName(sample));
  const isRecorded = flags.record !== undefined;
  const wanted = withEdits(applied);
  const hiding = createHiding([...from.objects, ...wanted], { showsContent: flags['show-values'] });
  // A record is of one state: with the change, if there is one.
  const before = isRecorded ? recordedObjects(wanted, hiding) : [...from.objects, ...samples.filter(isKnown)];
  const given = new Set(change.objects.filter(isCluster).map(namespacedName));
  const isOfFiles = flags.from.length > 0 && flags.filename.length > 0;
  const ofFrom = isOfFiles ? from.objects.filter(isCluster).map(namespacedName) : [];
  const gone = new Set(ofFrom.filter((name) => !given.has(name)));
  const stays = (object: JsonObject) => !(flags.prune && isCluster(object) && gone.has(namespacedName(object)));
  const written = [...(isRecorded ? before : applied).filter(stays), ...samples];
  const after = withEdits(withExtensions(written, flags.extension));
  const clusters = new Map(
    [...before, ...after].filter(isCluster).map((cluster) => [namespacedName(cluster), cluster]),
  );
  const planned = new Set([...clusters].filter(([, cluster]) => isChosen(cluster)).map(([name]) => name));
  // Of a folder with classes, those that it no longer has; other folders may be without any.
  const classesGiven = new Set(classesIn(change.objects).map(namespacedName));
  const classesUsed = new Set(after.filter(isCluster).map(classNameOf));
  const classesGone = classesIn(isOfFiles && classesGiven.size > 0 ? from.objects : [])
    .map(namespacedName)
    .filter((name) => !classesGiven.has(name) && classesUsed.has(name));
  const about = (names: readonly string[], textOf: (list: string) => string) =>
    names.length === 0 ? [] : [textOf(shortList(names, 5))];
  const notes = [
    ...about(
      kept,
      (list) =>
        `fields that -f does not give stay, since nothing says who wrote them (no managedFields, no last-applied annotation): ${list}: read them with kubectl get -o yaml --show-managed-fields`,
    ),
    ...about(
      shared,
      (list) =>
        `several field managers apply ${list}: -f is planned as an apply of the first one of each, unless --field-manager names another`,
    ),
    ...definitionNotes(before, after).map(printable),
    ...(samples.length > 0
      ? ['no Cluster is among the objects: a Cluster of each class is planned, with the defaults of its variables']
      : []),
    ...about(
      flags.prune ? [] : [...gone].map(printable),
      (list) =>
        `Clusters of --from that are not in -f stay, unless your GitOps tool prunes them (--prune plans that): ${list}`,
    ),
    ...about(
      classesGone.map(printable),
      (list) => `ClusterClasses of --from that are not in -f stay, since Clusters use them: ${list}`,
    ),
    ...leftOut(flags, [...clusters.keys()], planned),
  ];
  return {
    before,
    after,
    hiding,
    /** `NAMESPACE/NAME` of the Clusters that are planned. */
    planned,
    classOf: classesOf(after),
    /** Whether the Clusters were made up, for lack of any. */
    isSample: samples.length > 0,
    /** Notes for the user about the choice of objects, in lines. */
    notes,
    /** The same, where it makes the plan incomplete. */
    problems:
      hasClusters || samples.length > 0 || problems.length > 0
        ? problems
        : ['no Cluster and no ClusterClass is among the objects: pass some with -f'],
  };
}
