import { list } from '../schema.ts';
import { core, defineHooks, part, request, response } from './parts.ts';

const variables = {
  variables: list(part('Variable'), 'Variables of the whole cluster; those of an item take precedence.'),
};

/** The version of the holders is that of the controller's own types. */
const holderChanges = [
  { minor: 11, text: 'holders in the core group are v1beta2 (before: v1beta1)', coreBefore: 'v1beta1' },
] as const;

export const topologyMutation = defineHooks(
  { tags: ['Topology Mutation Hook'] },
  {
    GeneratePatches: {
      summary: 'Patches the templates of a ClusterClass for one Cluster.',
      purpose:
        'Called for each external patch of the ClusterClass, in its order, in every reconcile of every Cluster: answer fast, without side effects, and the same for the same input. Any error stops the topology reconcile.',
      changes: holderChanges,
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
      changes: holderChanges,
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
      changes: [{ minor: 13, text: 'variables are core v1beta2 (before: v1beta1)', coreBefore: 'v1beta1' }],
      introduced: 4,
      request: request('A request for the variables that an external patch needs.', {}),
      response: response('Variables, with the schemas of their values.', {
        variables: list(core('ClusterClassVariable'), 'The variables.'),
      }),
    },
  },
);
