import { compareReleases, hooks, lifecycleHooks, type Release } from '../../runtimehooks/index.ts';

/** A change to calls that a release of Cluster API made without a new version of the hook: v1alpha1 is alpha. */
interface WireChange {
  release: Release;
  /** Names of the affected hooks; undefined for all. */
  hooks?: readonly string[];
  /** Whether an extension written for earlier releases may break. */
  isBreaking: boolean;
  change: string;
  remedy: string;
}

const v1 = (minor: number): Release => ({ major: 1, minor });

const lifecycle = [...lifecycleHooks];
const patching = [hooks.GeneratePatches.name, hooks.ValidateTopology.name];

/** From the release notes and migration guides of Cluster API, oldest first. */
const wireChanges: readonly WireChange[] = [
  {
    release: v1(4),
    isBreaking: false,
    change: 'requests carry settings of the ExtensionConfig',
    remedy: 'ignore unknown fields',
  },
  {
    release: v1(10),
    isBreaking: true,
    change: 'many empty fields of requests (items, variables) are omitted',
    remedy: 'read an absent list as an empty one',
  },
  {
    release: v1(11),
    hooks: lifecycle,
    isBreaking: true,
    change: 'the Cluster of requests has no status, no managedFields and no last-applied annotation',
    remedy: 'read the status from the API server if it is needed',
  },
  {
    release: v1(11),
    hooks: patching,
    isBreaking: true,
    change: 'the builtin variable has no cluster.network.ipFamily',
    remedy: 'derive it from the CIDR blocks',
  },
  {
    release: v1(12),
    hooks: [hooks.AfterControlPlaneUpgrade.name],
    isBreaking: true,
    change: 'it is called after each step of an upgrade, with the steps that remain, not once at its end',
    remedy: 'do not take a call as the end of the upgrade; use AfterClusterUpgrade for that',
  },
  {
    release: v1(12),
    hooks: lifecycle,
    isBreaking: true,
    change: 'Cluster API waits for the full retryAfterSeconds: the hook is not called earlier, whatever changes',
    remedy: 'answer between a few seconds and a few minutes',
  },
  {
    release: v1(13),
    hooks: lifecycle,
    isBreaking: true,
    change: 'the Cluster of requests is v1beta2, under the same version of the hook',
    remedy: 'read both versions of the Cluster before the upgrade; "conformance" tests both',
  },
  {
    release: v1(13),
    hooks: [hooks.DiscoverVariables.name],
    isBreaking: true,
    change: 'variables of answers are ClusterClassVariables of v1beta2: metadata is deprecatedV1Beta1Metadata',
    remedy: 'answer in a form that both can read: no metadata in variables',
  },
  {
    release: v1(13),
    hooks: patching,
    // The fields are the same: labels and annotations.
    isBreaking: false,
    change:
      'the metadata of builtin variables (cluster, controlPlane, machineDeployment, machinePool) has the type of v1beta2',
    remedy: 'build Go extensions with the 1.13 module; JSON is read as before',
  },
  {
    release: v1(14),
    isBreaking: false,
    change: 'messages of Failures appear in conditions, where everyone who may read Clusters sees them',
    remedy: 'put no secrets and nothing that changes by itself in messages; "conformance" checks both',
  },
  {
    release: v1(14),
    hooks: [hooks.GeneratePatches.name],
    isBreaking: true,
    change:
      'patches of labels and annotations in templates have an effect: earlier releases dropped them silently, so those that were there all along replace machines after the upgrade',
    remedy: 'look for patches of metadata before the upgrade ("rehearse" shows their effect), and remove unwanted ones',
  },
  {
    release: v1(14),
    isBreaking: false,
    change: 'v1beta1 of Cluster API is planned to be removed in v1.16 (April 2027)',
    remedy: 'write manifests, and read Clusters, as v1beta2',
  },
  {
    release: v1(14),
    // A server that answers Discovery does not redirect, and hooks have the same address.
    isBreaking: false,
    change: 'redirects are no longer followed',
    remedy: 'name the final address in spec.clientConfig',
  },
];

/** The wire changes that affect the given hooks when one release replaces another. */
export function wireChangesBetween(from: Release, to: Release, called: ReadonlySet<string>): WireChange[] {
  return wireChanges.filter(
    ({ release, hooks: changedHooks }) =>
      compareReleases(release, from) > 0 &&
      compareReleases(release, to) <= 0 &&
      (changedHooks === undefined || changedHooks.some((hook) => called.has(hook))),
  );
}
