import type { Schema } from '../../kubernetes/schema/index.ts';
import { fieldsOf, type PartKind, schemaOfFields } from '../../runtimehooks/index.ts';

const text: Schema = { type: 'string' };
const texts: Schema = { type: 'array', items: text };
const textMap: Schema = { type: 'object', additionalProperties: text };
/** Unlike in a CRD, fields that are not listed are not looked at. */
const objectOf = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
/** A list whose items have unique keys. */
const listOf = (key: 'name' | 'class', properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'array',
  items: objectOf({ [key]: text, ...properties }, [key, ...required]),
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
});

const metadata = objectOf({ labels: textMap, annotations: textMap });
const named = objectOf({ name: { ...text, minLength: 1 }, namespace: text, labels: textMap }, ['name']);
const templated = objectOf({
  templateRef: objectOf({ apiVersion: text, kind: text, name: text }, ['apiVersion', 'kind', 'name']),
});
/** The fields of a class that Cluster API carries to objects. */
const carried = (kind: PartKind): Record<string, Schema> =>
  schemaOfFields(fieldsOf(kind).filter(({ isOnlyInTopology }) => !isOnlyInTopology)).properties ?? {};
const workers = (kind: PartKind): Schema =>
  listOf('class', { ...carried(kind), metadata, bootstrap: templated, infrastructure: templated });

const classes = objectOf({ names: texts });
/** A definition of an inline patch. */
const definition = objectOf({
  selector: objectOf({
    apiVersion: text,
    kind: text,
    matchResources: objectOf({
      controlPlane: { type: 'boolean' },
      infrastructureCluster: { type: 'boolean' },
      machineDeploymentClass: classes,
      machinePoolClass: classes,
    }),
  }),
  jsonPatches: {
    type: 'array',
    maxItems: 100,
    items: objectOf({ op: text, path: text, valueFrom: objectOf({ variable: text, template: text }) }, ['op', 'path']),
  },
});

/** The fields of a ClusterClass that a rehearsal reads, as in Cluster API's CRD (core v1beta2). */
export const clusterClassSchema: Schema = objectOf(
  {
    metadata: named,
    spec: objectOf({
      infrastructure: templated,
      controlPlane: objectOf({
        ...carried('ControlPlane'),
        ...templated.properties,
        machineInfrastructure: templated,
        metadata,
      }),
      workers: objectOf({ machineDeployments: workers('MachineDeployment'), machinePools: workers('MachinePool') }),
      variables: listOf(
        'name',
        { required: { type: 'boolean' }, schema: objectOf({ openAPIV3Schema: { type: 'object' } }) },
        ['schema'],
      ),
      patches: listOf('name', {
        enabledIf: text,
        definitions: { type: 'array', maxItems: 100, items: definition },
        external: objectOf({
          generatePatchesExtension: text,
          validateTopologyExtension: text,
          discoverVariablesExtension: text,
          settings: textMap,
        }),
      }),
      upgrade: objectOf({ external: objectOf({ generateUpgradePlanExtension: text }) }),
      kubernetesVersions: texts,
    }),
  },
  ['metadata', 'spec'],
);

const overrides = objectOf({ variables: objectOf({ overrides: listOf('name', {}) }) });
const groups = listOf('name', overrides.properties ?? {});

/** The lists in the topology of a Cluster. Messages of hooks check the other fields. */
export const clusterSchema: Schema = objectOf({
  spec: objectOf({
    topology: objectOf({
      variables: listOf('name', {}),
      controlPlane: overrides,
      workers: objectOf({ machineDeployments: groups, machinePools: groups }),
    }),
  }),
});

/** The fields of a Namespace that a rehearsal reads. */
export const namespaceSchema: Schema = objectOf({ metadata: named }, ['metadata']);
