import { type JsonObject, textAt } from './json/json.ts';

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
