import {
  fieldAt,
  type Json,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  own,
  textAt,
} from '../../kubernetes/index.ts';

/** A patch of a ClusterClass: by an extension, or inline. */
export interface ClassPatch {
  name: string;
  /** Which variables it gets, by where they are defined: its name, or `inline`. */
  variablesFrom: string;
  /** Of an inline patch; empty for one by an extension. */
  definitions: readonly JsonObject[];
  /** The Go template of an inline patch; empty if it is always enabled. */
  enabledIf: string;
  generatePatches: string | undefined;
  validateTopology: string | undefined;
  discoverVariables: string | undefined;
  settings: JsonObject | undefined;
}

/** The templates that Machines are created from. */
export interface MachineTemplates {
  bootstrap: JsonObject | undefined;
  infrastructure: JsonObject | undefined;
  /** The class of workers itself. */
  settings: JsonObject;
}

export interface ClassVariable {
  /** Name of the patch, or `inline`. */
  from: string;
  isRequired: boolean;
  schema: JsonObject;
}

/** A ClusterClass with its templates. */
export interface Blueprint {
  namespace: string;
  name: string;
  /** Of the class. */
  spec: JsonObject;
  /** Handler of GenerateUpgradePlan. */
  planHandler: string | undefined;
  /** `spec.kubernetesVersions`. */
  versions: readonly string[];
  patches: readonly ClassPatch[];
  infrastructureCluster: JsonObject | undefined;
  controlPlane: {
    template: JsonObject | undefined;
    machines: JsonObject | undefined;
    /** `spec.controlPlane`. */
    settings: JsonObject;
    /** Whether its object follows the contract v1beta1, and not v1beta2: other fields refer to templates and have timeouts. */
    isOfOldContract: boolean;
  };
  /** By class name. */
  machineDeployments: ReadonlyMap<string, MachineTemplates>;
  machinePools: ReadonlyMap<string, MachineTemplates>;
  /** Templates that the class refers to and that are not known: `DockerMachineTemplate default/fleet-worker`. */
  missing: readonly string[];
  /** Definitions of variables by name: those of the class, and those answered by DiscoverVariables. */
  variables: Map<string, ClassVariable[]>;
}

/** The kind of object that a template creates: the template's kind without `Template`. */
export const kindOfTemplate = (template: JsonObject): string => textAt(template, 'kind').replace(/Template$/, '');

/** The versions of control planes that follow another contract than their name says, as the labels of their definitions have it. */
const otherContracts: Readonly<Record<string, string>> = {
  'AWSManagedControlPlane v1beta2': 'v1beta1',
  'KThreesControlPlane v1beta2': 'v1beta1',
  'KamajiControlPlane v1alpha1': 'v1beta1',
  'OCIManagedControlPlane v1beta2': 'v1beta1',
  'RKE2ControlPlane v1beta1': 'v1beta2',
};

/** By a label of its CustomResourceDefinition that lists versions (internal/contract/version.go, v1.14). */
function isOfOldContract(template: JsonObject, definitions: readonly JsonObject[]): boolean {
  const [group, version = ''] = textAt(template, 'apiVersion').split('/');
  const kind = kindOfTemplate(template);
  const definition = definitions.find(
    ({ spec }) => textAt(spec, 'group') === group && textAt(spec, 'names', 'kind') === kind,
  );
  const labels = objectAt(definition, 'metadata', 'labels');
  const labelled = ['v1beta1', 'v1beta2'].find((contract) =>
    textAt(labels, `cluster.x-k8s.io/${contract}`).split('_').includes(version),
  );
  return (labelled ?? own(otherContracts, `${kind} ${version}`) ?? version) === 'v1beta1';
}

function patchOf(patch: JsonObject): ClassPatch {
  const name = textAt(patch, 'name');
  const settings = fieldAt(patch, 'external', 'settings');
  const handler = (field: string) => textAt(patch, 'external', field) || undefined;
  return {
    name,
    variablesFrom: patch.external === undefined ? 'inline' : name,
    definitions: objectsAt(patch, 'definitions'),
    enabledIf: textAt(patch, 'enabledIf'),
    generatePatches: handler('generatePatchesExtension'),
    validateTopology: handler('validateTopologyExtension'),
    discoverVariables: handler('discoverVariablesExtension'),
    settings: settings === undefined ? undefined : objectAt(settings),
  };
}

/**
 * Reads a ClusterClass with its templates.
 *
 * @param clusterClass in v1beta2.
 * @param templateAt the template that a reference of the class names; undefined if it is not known.
 */
export function readBlueprint(
  clusterClass: JsonObject,
  templateAt: (reference: JsonObject, namespace: string) => JsonObject | undefined,
  definitions: readonly JsonObject[] = [],
): Blueprint {
  const namespace = namespaceOf(clusterClass);
  const missing: string[] = [];
  const template = (holder: Json | undefined): JsonObject | undefined => {
    const reference = objectAt(holder, 'templateRef');
    if (Object.keys(reference).length === 0) {
      return undefined;
    }
    const found = templateAt(reference, namespace);
    if (found === undefined) {
      missing.push(`${textAt(reference, 'kind')} ${namespace}/${textAt(reference, 'name')}`);
    }
    return found;
  };
  const machines = (list: string): ReadonlyMap<string, MachineTemplates> =>
    new Map(
      objectsAt(clusterClass, 'spec', 'workers', list).map((settings) => [
        textAt(settings, 'class'),
        { bootstrap: template(settings.bootstrap), infrastructure: template(settings.infrastructure), settings },
      ]),
    );
  const versions = fieldAt(clusterClass, 'spec', 'kubernetesVersions');
  const controlPlane = objectAt(clusterClass, 'spec', 'controlPlane');
  const infrastructureCluster = template(objectAt(clusterClass, 'spec', 'infrastructure'));
  const controlPlaneTemplate = template(controlPlane);
  return {
    namespace,
    name: nameOf(clusterClass),
    spec: objectAt(clusterClass, 'spec'),
    planHandler: textAt(clusterClass, 'spec', 'upgrade', 'external', 'generateUpgradePlanExtension') || undefined,
    versions: Array.isArray(versions) ? versions.filter((version) => typeof version === 'string') : [],
    patches: objectsAt(clusterClass, 'spec', 'patches').map(patchOf),
    infrastructureCluster,
    controlPlane: {
      template: controlPlaneTemplate,
      machines: template(controlPlane.machineInfrastructure),
      settings: controlPlane,
      isOfOldContract: controlPlaneTemplate !== undefined && isOfOldContract(controlPlaneTemplate, definitions),
    },
    machineDeployments: machines('machineDeployments'),
    machinePools: machines('machinePools'),
    missing,
    variables: new Map(
      definitionsIn(fieldAt(clusterClass, 'spec', 'variables'), 'inline').map(([key, value]) => [key, [value]]),
    ),
  };
}

/** Variables of an answer of DiscoverVariables, or of a class, as definitions. */
export function definitionsIn(list: Json | undefined, from: string): [string, ClassVariable][] {
  return objectsAt(list ?? null).map((variable) => [
    textAt(variable, 'name'),
    { from, isRequired: variable.required === true, schema: objectAt(variable, 'schema', 'openAPIV3Schema') },
  ]);
}
