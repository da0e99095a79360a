import {
  type FieldPath,
  fieldAt,
  groupOf,
  isSame,
  type Json,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  textAt,
} from '../../kubernetes/index.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import { clonedFrom, mergedMetadata, nonEmpty } from '../patches/items.ts';
import type { Difference } from '../world/differences.ts';
import type { ExistingMachine } from '../world/groups.ts';
import { picked, referenceTo } from '../world/objects.ts';

export type MachineObjects = Required<{ [Part in keyof ExistingMachine]: JsonObject }>;

/** How long Cluster API tries to delete the Node of a Machine, unless somebody sets it, in seconds. */
const nodeDeletionTimeoutSeconds = 10;

/** A time in an object, in ms since 1970; undefined if there is none. */
export function timeAt(object: JsonObject | undefined, ...path: readonly string[]): number | undefined {
  const time = Date.parse(textAt(object, ...path));
  return Number.isNaN(time) ? undefined : time;
}

/** Where a group says that Machines that are older are to be replaced; a KThreesControlPlane says it at another place. */
export const afterPath = ['spec', 'rollout', 'after'] as const;
export const rolloutAfterPath = ['spec', 'rolloutAfter'] as const;
export const afterPaths: readonly FieldPath[] = [afterPath, rolloutAfterPath];

/** Whether times decide which Machines of a group are replaced: when they were made, or when their certificates expire. */
export const readsTimes = (object: JsonObject): boolean =>
  [...afterPaths, ['spec', 'rollout', 'before']].some((path) => fieldAt(object, ...path) !== undefined);

/** It is older than a group wants it; if its age is not known, the group did not want it before (`previous`). */
export function ageReasons(
  createdAt: number | undefined,
  object: JsonObject,
  previous: JsonObject,
  path: readonly string[] = afterPath,
): Difference[] {
  const time = timeAt(object, ...path);
  const isTooOld =
    time !== undefined && (createdAt === undefined ? time !== timeAt(previous, ...path) : createdAt < time);
  return isTooOld ? [{ path, before: undefined, after: fieldAt(object, ...path) }] : [];
}

/** The object made from a template for a Machine (external.CreateFromTemplate, v1.14). */
export const cloneOf = (template: JsonObject, name: string, namespace: string, metadata: JsonObject): JsonObject => ({
  apiVersion: textAt(template, 'apiVersion'),
  kind: kindOfTemplate(template),
  metadata: {
    name,
    namespace,
    ...mergedMetadata([objectAt(template, 'spec', 'template', 'metadata'), metadata, clonedFrom(template)]),
  },
  spec: objectAt(template, 'spec', 'template', 'spec'),
});

/** Where control planes refer to the template of their Machines' infrastructure, in their newest and older versions. */
const templatePaths = [
  ['spec', 'machineTemplate', 'spec', 'infrastructureRef'],
  ['spec', 'machineTemplate', 'infrastructureRef'],
  ['spec', 'infrastructureTemplate'],
  ['spec', 'infrastructureRef'],
] as const;

/** Where a control plane refers to the template of its Machines' infrastructure. */
export const machineTemplatePath = (controlPlane: JsonObject): readonly string[] =>
  templatePaths.find((path) => textAt(controlPlane, ...path, 'name') !== '') ?? templatePaths[0];

/** The reference of a control plane to the template of its Machines' infrastructure; empty without one. */
export const machineTemplateOf = (controlPlane: JsonObject): JsonObject =>
  objectAt(controlPlane, ...machineTemplatePath(controlPlane));

function templateFor(controlPlane: JsonObject): JsonObject {
  const reference = machineTemplateOf(controlPlane);
  const group = textAt(reference, 'apiGroup') || groupOf(reference);
  return { apiVersion: `${group}/`, kind: textAt(reference, 'kind'), metadata: { name: textAt(reference, 'name') } };
}

/** A Machine with what is made for it, as if it were running. */
export function running(machine: JsonObject, bootstrapConfig: JsonObject, infrastructure: JsonObject): MachineObjects {
  const name = nameOf(machine);
  const providerID = `made-up://${name}`;
  const infrastructureMachine = { ...infrastructure, spec: { ...objectAt(infrastructure, 'spec'), providerID } };
  const spec = objectAt(machine, 'spec');
  return {
    machine: {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      ...machine,
      spec: {
        ...spec,
        bootstrap: { configRef: referenceTo(bootstrapConfig), dataSecretName: name },
        infrastructureRef: referenceTo(infrastructureMachine),
        providerID,
        deletion: { nodeDeletionTimeoutSeconds, ...objectAt(spec, 'deletion') },
      },
    },
    bootstrapConfig,
    infrastructureMachine,
  };
}

/** Labels and annotations of a Machine of a control plane with a machineTemplate, and of what is made for it. */
export function controlPlaneMetadata(controlPlane: JsonObject, clusterName: string): JsonObject {
  const { labels, annotations } = objectAt(controlPlane, 'spec', 'machineTemplate', 'metadata');
  return {
    labels: {
      ...objectAt(labels),
      'cluster.x-k8s.io/cluster-name': clusterName,
      'cluster.x-k8s.io/control-plane': '',
      'cluster.x-k8s.io/control-plane-name': nameOf(controlPlane),
    },
    ...nonEmpty('annotations', objectAt(annotations)),
  };
}

/** A Machine that a control plane makes, with its bootstrap configuration; `own`: what else the kind gives it. */
export function machineWith(
  controlPlane: JsonObject,
  infrastructure: JsonObject | undefined,
  names: { cluster: string; machine: string },
  config: { apiVersion: string; kind: string; spec: JsonObject },
  own: { annotations?: JsonObject; spec?: JsonObject } = {},
): MachineObjects {
  const [name, namespace] = [names.machine, namespaceOf(controlPlane)];
  const metadata = controlPlaneMetadata(controlPlane, names.cluster);
  return running(
    {
      metadata: { name, namespace, ...mergedMetadata([metadata, { annotations: own.annotations ?? {} }]) },
      spec: { clusterName: names.cluster, version: textAt(controlPlane, 'spec', 'version'), ...own.spec },
    },
    { ...config, metadata: { name, namespace, ...metadata } },
    cloneOf(infrastructure ?? templateFor(controlPlane), name, namespace, metadata),
  );
}

const originAnnotations = ['groupkind', 'name'].map((of) => `cluster.x-k8s.io/cloned-from-${of}`);

/** Whether a Machine's infrastructure was made of another template than its control plane refers to, as its annotations say. */
export function templateDifferences({ infrastructureMachine }: MachineObjects, controlPlane: JsonObject): Difference[] {
  const originIn = (annotations: JsonObject) => originAnnotations.map((name) => textAt(annotations, name));
  const before = originIn(objectAt(infrastructureMachine, 'metadata', 'annotations'));
  const after = originIn(clonedFrom(templateFor(controlPlane)).annotations);
  const path = [...machineTemplatePath(controlPlane), 'name'];
  return isSame(before, after) ? [] : [{ path, before: before[1] || undefined, after: after[1] }];
}

/** The same, but one without both annotations is up to date (matchesTemplateClonedFrom, which most providers share). */
export function templateReasons(made: MachineObjects, controlPlane: JsonObject): Difference[] {
  const annotations = objectAt(made.infrastructureMachine, 'metadata', 'annotations');
  const isKnown = originAnnotations.every((name) => Object.hasOwn(annotations, name));
  return isKnown ? templateDifferences(made, controlPlane) : [];
}

export interface UpdateRequest {
  current: { [part: string]: JsonObject };
  desired: { [part: string]: JsonObject };
}

/** An object as in requests of hooks that ask whether Machines can be updated in place. */
export const inRequest = (object: JsonObject, metadata: JsonObject, spec: Json): JsonObject => ({
  apiVersion: textAt(object, 'apiVersion'),
  kind: textAt(object, 'kind'),
  metadata: { name: nameOf(object), namespace: namespaceOf(object), ...metadata },
  spec,
});

/** The metadata of an object that somebody sets: labels and annotations, if it has any. */
export const shownMetadata = (object: JsonObject): JsonObject =>
  picked(objectAt(object, 'metadata'), ['labels', 'annotations']);
