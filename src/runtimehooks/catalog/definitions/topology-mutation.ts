import type { ReleaseChange } from '../definition.ts';
import { v1 } from '../release.ts';
import { list } from '../schema.ts';
import { core, defineHooks, part, request, response } from './parts.ts';

const variables = {
  variables: list(part('Variable'), 'Variables of the whole cluster; those of an item take precedence.'),
};

const templateChanges: readonly ReleaseChange[] = [
  {
    release: v1(11),
    // The version of the holders is that of the controller's own types.
    isBreaking: false,
    text: 'holders in the core group are v1beta2 (before: v1beta1)',
    remedy: 'compare kind and fieldPath of a holder, not its apiVersion',
    coreBefore: 'v1beta1',
  },
  {
    release: v1(11),
    isBreaking: true,
    text: 'the builtin variable has no cluster.network.ipFamily',
    remedy: 'derive it from the CIDR blocks',
  },
  {
    release: v1(13),
    // The fields are the same: labels and annotations.
    isBreaking: false,
    text: 'the metadata of builtin variables (cluster, controlPlane, machineDeployment, machinePool) has the type of v1beta2',
    remedy: 'build Go extensions with the 1.13 module; JSON is read as before',
  },
];

const patchedMetadata: ReleaseChange = {
  release: v1(14),
  isBreaking: true,
  text: 'patches of labels and annotations in templates have an effect: earlier releases dropped them silently, so those that were there all along replace machines after the upgrade',
  remedy: 'look for patches of metadata before the upgrade ("rehearse" shows their effect), and remove unwanted ones',
};

const variableChange: ReleaseChange = {
  release: v1(13),
  isBreaking: true,
  text: 'variables of answers are ClusterClassVariables of v1beta2 (before: v1beta1): metadata is deprecatedV1Beta1Metadata',
  remedy: 'answer in a form that both can read: no metadata in variables',
  coreBefore: 'v1beta1',
};

export const topologyMutation = defineHooks(
  { tags: ['Topology Mutation Hook'], calls: 'named' },
  {
    GeneratePatches: {
      summary: 'Patches the templates of a ClusterClass for one Cluster.',
      purpose:
        'Called for each external patch of the ClusterClass, in its order, in every reconcile of every Cluster: answer fast, without side effects, and the same for the same input. Any error stops the topology reconcile.',
      changes: [...templateChanges, patchedMetadata],
      about: 'topology',
      isQuestion: true,
      introduced: 2,
      request: request(
        'Templates that may be patched.',
        { items: list(part('GeneratePatchesRequestItem'), 'The templates.') },
        variables,
      ),
      response: response('Patches to templates.', {
        items: list(part('GeneratePatchesResponseItem'), 'The patches, applied in this order.'),
      }),
    },
    ValidateTopology: {
      summary: 'Checks the templates of one Cluster after all patches.',
      purpose: 'Called for each external patch that names a validator. `Failure` stops the topology reconcile.',
      changes: templateChanges,
      about: 'topology',
      isQuestion: true,
      introduced: 2,
      request: request(
        'Templates with all patches applied.',
        { items: list(part('ValidateTopologyRequestItem'), 'The templates.') },
        variables,
      ),
      response: response('Whether the topology is valid.'),
    },
    DiscoverVariables: {
      summary: 'Asks which variables an external patch needs.',
      purpose:
        'Called for each external patch of a ClusterClass that names it; the answer is cached for ten minutes. Without it no Cluster of the class is reconciled.',
      changes: [variableChange],
      isQuestion: true,
      introduced: 4,
      request: request('A request for the variables that an external patch needs.', {}),
      response: response('Variables, with the schemas of their values.', {
        variables: list(core('ClusterClassVariable'), 'The variables.'),
      }),
    },
  },
);
