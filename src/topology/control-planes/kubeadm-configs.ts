import {
  copyOf,
  fieldAt,
  groupOf,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  textAt,
} from '../../kubernetes/index.ts';
import { putAt } from '../../runtimehooks/index.ts';
import { picked } from '../world/objects.ts';
import { withoutEmpty } from '../world/without-empty.ts';

/** The feature gate that Cluster API sets where kubeadm has it, besides those of the template. */
function ownFeatureGates(version: string): JsonObject {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return major === '1' && Number(minor) >= 31 && Number(minor) < 36 ? { ControlPlaneKubeletLocalMode: true } : {};
}

/** Of the KubeadmConfig for a Machine (ComputeDesiredKubeadmConfig in controlplane/kubeadm/pkg/desiredstate, v1.14). */
export function kubeadmConfigSpec(controlPlane: JsonObject, joins: boolean): JsonObject {
  const { initConfiguration, joinConfiguration, ...spec } = objectAt(controlPlane, 'spec', 'kubeadmConfigSpec');
  const clusterConfiguration = objectAt(spec.clusterConfiguration);
  const featureGates = {
    ...ownFeatureGates(textAt(controlPlane, 'spec', 'version')),
    ...objectAt(clusterConfiguration.featureGates),
  };
  return {
    ...spec,
    clusterConfiguration: { ...clusterConfiguration, featureGates },
    ...(joins
      ? { joinConfiguration: { controlPlane: {}, ...objectAt(joinConfiguration) } }
      : { initConfiguration: objectAt(initConfiguration) }),
  };
}

/** Whether a KubeadmConfig is that of a first control plane Machine. */
export const isForInit = (spec: JsonObject): boolean => !isJsonObject(objectAt(spec.joinConfiguration).controlPlane);

const sharedFields = ['timeouts', 'patches', 'skipPhases', 'nodeRegistration'] as const;

function asJoin({ initConfiguration, ...rest }: JsonObject): JsonObject {
  const init = objectAt(initConfiguration);
  const controlPlane = picked(init, ['localAPIEndpoint']);
  return { ...rest, joinConfiguration: { ...picked(init, sharedFields), controlPlane } };
}

/** Without what does not count, with DNS and endpoint of `desired`, and the defaults that webhooks set until v1.10. */
function compared(spec: JsonObject, desired: JsonObject): JsonObject {
  const filled = withoutEmpty(spec) as JsonObject;
  const { dns = null, controlPlaneEndpoint = null } = objectAt(desired, 'clusterConfiguration');
  const registering = (configuration: Json | undefined): JsonObject => {
    const { timeouts, nodeRegistration, discovery: _discovery, ...rest } = objectAt(configuration);
    const { controlPlaneComponentHealthCheckSeconds: _seconds, ...otherTimeouts } = objectAt(timeouts);
    const registration = { imagePullPolicy: 'IfNotPresent', ...objectAt(nodeRegistration) };
    return { ...rest, timeouts: otherTimeouts, nodeRegistration: registration };
  };
  return withoutEmpty({
    format: 'cloud-config',
    ...filled,
    clusterConfiguration: { ...objectAt(filled.clusterConfiguration), dns, controlPlaneEndpoint },
    initConfiguration: registering(filled.initConfiguration),
    joinConfiguration: registering(filled.joinConfiguration),
  }) as JsonObject;
}

/**
 * Two specs of KubeadmConfigs as a KubeadmControlPlane compares them, and as extensions that update Machines get them
 * (PrepareKubeadmConfigsForDiff in controlplane/kubeadm/pkg/filters.go, v1.14). DNS is updated in the Cluster itself, a
 * join's discovery and the health check's timeout count for the next Machine only.
 */
export function comparedSpecs(
  current: JsonObject,
  desired: JsonObject,
  joins: boolean,
): { current: JsonObject; desired: JsonObject } {
  const comparedDesired = compared(desired, desired);
  if (!joins || !isForInit(current)) {
    return { current: compared(current, desired), desired: comparedDesired };
  }
  const joined = compared(asJoin(current), desired);
  // Only a Machine that joins has a caCertPath.
  const joinConfiguration = {
    ...objectAt(joined, 'joinConfiguration'),
    ...picked(objectAt(comparedDesired, 'joinConfiguration'), ['caCertPath']),
  };
  return { current: { ...joined, joinConfiguration }, desired: comparedDesired };
}

/** The defaults that Cluster API's webhooks gave kubeadm configs once. */
const formerDefaults: readonly (readonly [value: string, ...path: string[]])[] = [
  ['cloud-config', 'format'],
  ['IfNotPresent', 'initConfiguration', 'nodeRegistration', 'imagePullPolicy'],
  ['IfNotPresent', 'joinConfiguration', 'nodeRegistration', 'imagePullPolicy'],
];

/** A copy with the defaults that older releases gave it: Cluster API's controllers compare only such copies. */
export function kubeadmDefaults(spec: JsonObject): JsonObject {
  const copy = copyOf(spec);
  for (const [value, ...path] of formerDefaults) {
    if (!fieldAt(copy, ...path)) {
      putAt(copy, path, value);
    }
  }
  const exec = objectAt(copy, 'joinConfiguration', 'discovery', 'file', 'kubeConfig', 'user', 'exec');
  if (Object.keys(exec).length > 0 && !exec.apiVersion) {
    exec.apiVersion = 'client.authentication.k8s.io/v1';
  }
  return copy;
}

const places: Readonly<Record<string, readonly string[]>> = {
  'bootstrap.cluster.x-k8s.io KubeadmConfig': ['spec'],
  'bootstrap.cluster.x-k8s.io KubeadmConfigTemplate': ['spec', 'template', 'spec'],
  'controlplane.cluster.x-k8s.io KubeadmControlPlane': ['spec', 'kubeadmConfigSpec'],
};

/** A copy of an object of the kubeadm providers with those defaults; other objects as they are. */
export function withKubeadmDefaults(object: JsonObject): JsonObject {
  const place = places[`${groupOf(object)} ${textAt(object, 'kind')}`];
  if (place === undefined) {
    return object;
  }
  const copy = copyOf(object);
  putAt(copy, [...place], kubeadmDefaults(objectAt(copy, ...place)));
  return copy;
}
