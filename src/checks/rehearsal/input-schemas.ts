import type { Schema } from '../../kubernetes/schema/index.ts';

const text: Schema = { type: 'string' };
const texts: Schema = { type: 'array', items: text };
const textMap: Schema = { type: 'object', additionalProperties: text };
/** Unlike in a CRD, fields that are not listed are not looked at. */
const objectOf = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
const listOf = (properties: Record<string, Schema>, required: string[]): Schema => ({
  type: 'array',
  items: objectOf(properties, required),
});

const metadata = objectOf({ labels: textMap, annotations: textMap });
const named = objectOf({ name: { ...text, minLength: 1 }, namespace: text, labels: textMap }, ['name']);
const templated = objectOf({
  templateRef: objectOf({ apiVersion: text, kind: text, name: text }, ['apiVersion', 'kind', 'name']),
});
const workers = listOf({ class: text, metadata, bootstrap: templated, infrastructure: templated }, ['class']);

/** The fields of a ClusterClass that a rehearsal reads, as in Cluster API's CRD (core v1beta2). */
export const clusterClassSchema: Schema = objectOf(
  {
    metadata: named,
    spec: objectOf({
      infrastructure: templated,
      controlPlane: objectOf({ ...templated.properties, machineInfrastructure: templated, metadata }),
      workers: objectOf({ machineDeployments: workers, machinePools: workers }),
      variables: listOf(
        { name: text, required: { type: 'boolean' }, schema: objectOf({ openAPIV3Schema: { type: 'object' } }) },
        ['name', 'schema'],
      ),
      patches: listOf(
        {
          name: text,
          external: objectOf({
            generatePatchesExtension: text,
            validateTopologyExtension: text,
            discoverVariablesExtension: text,
            settings: textMap,
          }),
        },
        ['name'],
      ),
      upgrade: objectOf({ external: objectOf({ generateUpgradePlanExtension: text }) }),
      kubernetesVersions: texts,
    }),
  },
  ['metadata', 'spec'],
);

/** The fields of a Namespace that a rehearsal reads. */
export const namespaceSchema: Schema = objectOf({ metadata: named }, ['metadata']);
