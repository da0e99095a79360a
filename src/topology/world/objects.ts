import { pausedAnnotation } from '../../extensionconfig/index.ts';
import { fieldAt, type JsonObject, lastAppliedAnnotation, objectAt, textAt } from '../../kubernetes/index.ts';

/** The API group of Clusters, classes, MachineDeployments and Machines. */
export const coreGroup = 'cluster.x-k8s.io';

/** What names an object in a state; the version of its API does not. */
export interface ObjectName {
  group: string;
  kind: string;
  namespace: string;
  name: string;
}

/** The group of an object's apiVersion: `infrastructure.cluster.x-k8s.io`, and '' for the core group. */
export const groupOf = (object: JsonObject): string => {
  const apiVersion = textAt(object, 'apiVersion');
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
};

export const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name');

/** The namespace of an object; `default` if it names none. */
export const namespaceOf = (object: JsonObject): string => textAt(object, 'metadata', 'namespace') || 'default';

/** `default/f1`. */
export const namespacedName = (object: JsonObject): string => `${namespaceOf(object)}/${nameOf(object)}`;

/** An object in one line: `KubeadmControlPlane default/f1-x7k2p`. */
export const objectText = (object: JsonObject): string => `${textAt(object, 'kind')} ${namespacedName(object)}`;

/** A reference to an object of the same namespace, in v1beta2. */
export const referenceTo = (object: JsonObject): JsonObject => ({
  apiGroup: groupOf(object),
  kind: textAt(object, 'kind'),
  name: nameOf(object),
});

/** What a write of an object changes: what its webhooks are asked about. */
export function writable({ metadata, spec = {} }: JsonObject): JsonObject {
  const { labels, annotations } = objectAt(metadata);
  const { [lastAppliedAnnotation]: _applied, ...own } = objectAt(annotations);
  return { labels: objectAt(labels), annotations: own, spec };
}

/** Whether Cluster API's controllers leave an object alone. */
export const isPaused = (object: JsonObject): boolean =>
  fieldAt(object, 'spec', 'paused') === true ||
  fieldAt(object, 'metadata', 'annotations', pausedAnnotation) !== undefined;

/** A name as one text. */
export const keyOf = ({ group, kind, namespace, name }: ObjectName): string => `${group} ${kind} ${namespace} ${name}`;

/** The name of an object, as a World finds it. */
export const nameIn = (object: JsonObject): ObjectName => ({
  group: groupOf(object),
  kind: textAt(object, 'kind'),
  namespace: namespaceOf(object),
  name: nameOf(object),
});
